import Glibc
import Server
import Testing

@Suite struct TransportLimitTests {
    private static let small: ServerLimits = {
        var limits = ServerLimits()
        limits.bodyBytes = 100
        limits.discardedBytes = 1000
        return limits
    }()

    private func post(_ length: Int, extra: String = "") -> String {
        "POST /p HTTP/1.1\r\nHost: h\r\n\(extra)Content-Length: \(length)\r\n\r\n"
            + String(repeating: "x", count: length)
    }

    @Test func aBodyAtTheLimitIsRead() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send(post(100))
        #expect(try client.answer().status == 200)
    }

    @Test func aBodyAboveItIsRefusedAndTheConnectionLives() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send(post(101))
        let answer = try client.answer()
        #expect(answer.status == 413)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.body.contains(#""code":"bodyTooLarge""#))
        client.send(post(1))
        #expect(try client.answer().status == 200)
    }

    @Test func aHugeBodyIsRefusedUnread() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999999\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 413)
        #expect(answer.headers["connection"]?.lowercased() == "close")
        try client.waitForClose()
    }

    @Test func aLargeBodyIsNotAskedFor() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send(
            "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n")
        #expect(try client.answer().status == 413)
    }

    @Test func aChunkedBodyAboveTheLimitIsRefused() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<11 { client.send("a\r\n0123456789\r\n") }
        client.send("0\r\n\r\n")
        #expect(try client.answer().status == 413)
    }

    @Test func anEndlessChunkedBodyIsCut() throws {
        let server = try startServer(limits: Self.small, handler: echo)
        let client = try RawClient(server)
        client.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        var isOpen = true
        for _ in 0..<100_000 where isOpen { isOpen = client.send("a\r\n0123456789\r\n") }
        #expect(!isOpen)
    }

    @Test func bodyLimitsFollowThePath() throws {
        var configuration = HTTPServer.Configuration(
            address: try #require(SocketAddress("127.0.0.1:0")), limits: Self.small)
        configuration.bodyLimit = { method, path in method == .post && path == "/p" ? 5 : 1 }
        let server = try HTTPServer(configuration, handler: echo)
        let client = try RawClient(server)
        client.send(post(5))
        #expect(try client.answer().status == 200)
        client.send(post(6))
        #expect(try client.answer().status == 413)
    }

    @Test(arguments: [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: abc\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    ])
    func headersThatReadTwoWaysAreRefused(headers: String) throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send("POST / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n")
        let answer = try client.answer()
        #expect(answer.status == 400 || answer.status == 413)
        try client.waitForClose()
    }

    @Test(arguments: ["/a?x=%2", "/a?x=%zz", "/a?%=1", "/a?x=%ff", "/a?x=%00", "*"])
    func malformedTargetsAreRefused(target: String) throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().status == 400)
    }

    @Test func tooManyQueryItemsAreRefused() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        for (count, status) in [(32, 200), (33, 400)] {
            let query = (0..<count).map { "a=\($0)" }.joined(separator: "&")
            client.send("GET /?\(query) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.answer().status == status)
        }
    }

    @Test func headersAreCounted() throws {
        let server = try startServer(handler: echo)
        for (count, status) in [(63, 200), (64, 431)] {  // and Host
            let client = try RawClient(server)
            let headers = (0..<count).map { "X-\($0): y\r\n" }.joined()
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n")
            #expect(try client.answer().status == status)
        }
    }

    @Test func largeHeadersAreRefused() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        let value = String(repeating: "v", count: 64 << 10)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\n\r\n")
        #expect(try client.answer().status == 431)
    }

    @Test func longTargetsAreRefused() throws {
        let server = try startServer(handler: echo)
        for (length, status) in [(8192, 200), (8193, 414), (64 << 10, 414)] {
            let client = try RawClient(server)
            let target = "/" + String(repeating: "p", count: length - 1)
            client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.answer().status == status)
        }
    }

    @Test func connectionsBeyondTheLimitWaitForTheirTurn() throws {
        var limits = ServerLimits()
        limits.connections = 4
        let server = try startServer(limits: limits, handler: echo)
        var clients = try (0..<4).map { _ in try RawClient(server) }
        for _ in 0..<5_000 where server.connectionCount < 4 { usleep(1000) }
        let waiting = try RawClient(server)
        waiting.send("GET /w HTTP/1.1\r\nHost: h\r\n\r\n")
        usleep(50_000)
        #expect(server.connectionCount == 4)
        // Held until here, whatever an optimizer makes of an array that nobody reads.
        withExtendedLifetime(clients) {}
        clients.removeAll()
        #expect(try waiting.answer().status == 200)
    }

    @Test func hundredsOfConnectionsAreHeld() throws {
        let server = try startServer(handler: echo)
        let clients = try (0..<400).map { _ in try RawClient(server) }
        for client in clients { client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        for client in clients { #expect(try client.answer().status == 200) }
        #expect(server.connectionCount == 400)
        withExtendedLifetime(clients) {}
    }
}

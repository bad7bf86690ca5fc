import Glibc
import Server
import Testing

/// Slow clients of every kind lose their connection, however diligently they keep it from idling.
@Suite struct DeadlineTests {
    private static let short: ServerLimits = {
        var limits = ServerLimits()
        limits.idleMilliseconds = 400
        limits.headerMilliseconds = 400
        limits.bodyMilliseconds = 400
        limits.answerMilliseconds = 400
        limits.deadlineTickMilliseconds = 20
        return limits
    }()

    private func cut(_ server: HTTPServer, _ wait: String) -> Int {
        // The client may see the end before the watching thread has counted it.
        for _ in 0..<500 where count(server, wait) == 0 { usleep(10_000) }
        return count(server, wait)
    }

    private func count(_ server: HTTPServer, _ wait: String) -> Int {
        server.overdueConnections.first { $0.wait == wait }?.count ?? -1
    }

    /// Sends a byte every 20 ms until the server has had enough.
    private func drip(_ client: RawClient, _ byte: String) {
        while client.send(byte) { usleep(20_000) }
    }

    @Test func anIdleConnectionIsClosed() throws {
        let server = try startServer(limits: Self.short, handler: echo)
        let client = try RawClient(server)
        try client.waitForClose()
        #expect(cut(server, "idle") == 1)
    }

    @Test func aDrippedRequestLineIsCut() throws {
        let server = try startServer(limits: Self.short, handler: echo)
        let client = try RawClient(server)
        client.send("GET /")
        drip(client, "x")
        #expect(cut(server, "idle") == 1)
    }

    @Test func drippedHeadersAreCut() throws {
        let server = try startServer(limits: Self.short, handler: echo)
        let client = try RawClient(server)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX: ")
        drip(client, "x")
        #expect(cut(server, "headers") == 1)
    }

    @Test func aDrippedBodyIsCut() throws {
        let server = try startServer(limits: Self.short, handler: echo)
        let client = try RawClient(server)
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
        drip(client, "x")
        #expect(cut(server, "body") == 1)
    }

    @Test func aDrippedBodyThatIsThrownAwayIsCut() throws {
        var limits = Self.short
        limits.bodyBytes = 10
        let server = try startServer(limits: limits, handler: echo)
        let client = try RawClient(server)
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
        drip(client, "x")
        #expect(cut(server, "body") == 1)
    }

    @Test func aReaderThatDoesNotReadIsCut() throws {
        let server = try startServer(limits: Self.short) { _, responder in
            responder.answer(
                HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 64 << 20)))
        }
        let client = try RawClient(server, receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        while server.connectionCount > 0 || cut(server, "answer") == 0 { usleep(10_000) }
        #expect(cut(server, "answer") == 1)
        #expect(server.requestsUnderWay == 0)
    }

    @Test func ourOwnSlownessCutsNobody() throws {
        let server = try startServer(limits: Self.short) { request, responder in
            detach {
                usleep(1_200_000)  // three times every limit
                echo(request, responder)
            }
        }
        let client = try RawClient(server)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().status == 200)
    }

    @Test func aBusyConnectionOutlivesItsIdleLimit() throws {
        let server = try startServer(limits: Self.short, handler: echo)
        let client = try RawClient(server)
        for _ in 0..<12 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.answer().status == 200)
            usleep(100_000)
        }
    }
}

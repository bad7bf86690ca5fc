import Server
import Testing

@Suite struct TransportTests {
    @Test func aRequestArrivesWhole() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send(
            "POST /a%2Fb/c?x=1%202&y=a+b&y=%C3%A9&flag HTTP/1.1\r\nHost: h\r\n"
                + "authorization: Bearer k\r\nCONTENT-TYPE: application/json\r\n"
                + "Content-Length: 4\r\n\r\nabcd")
        let answer = try client.answer()
        #expect(answer.status == 200)
        #expect(
            answer.body
                == "POST /a%2Fb/c x=1 2 y=a b y=é flag= auth:Bearer k type:application/json body:abcd"
        )
        #expect(answer.headers["content-type"] == "text/plain")
    }

    @Test func anAnswerMayComeLaterFromAnotherThread() throws {
        let server = try startServer { request, responder in
            detach { echo(request, responder) }
        }
        let client = try RawClient(server)
        // Many in turn: the answer races with the suspending of the connection.
        for number in 0..<500 {
            client.send("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try client.answer().body == "GET /\(number) body:")
        }
    }

    @Test func aDroppedResponderAnswersServerError() throws {
        let server = try startServer { _, _ in }
        let client = try RawClient(server)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == ProblemCode.serverError.status)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.body.contains(#""code":"serverError""#))
    }

    @Test func onlyTheFirstAnswerCounts() throws {
        let server = try startServer { _, responder in
            let first = responder.answer(HTTPResponse(status: 201, body: [49]))
            let second = responder.answer(HTTPResponse(status: 202, body: [50]))
            if second || !first { responder.answer(HTTPResponse(status: 599, body: [])) }
        }
        let client = try RawClient(server)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 201)
        #expect(answer.body == "1")
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try startServer { request, responder in
            detach { echo(request, responder) }
        }
        let client = try RawClient(server)
        client.send(
            (1...5).map { "POST /\($0) HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n\($0)" }
                .joined())
        for number in 1...5 {
            #expect(try client.answer().body == "POST /\(number) body:\(number)")
        }
    }

    @Test func headIsAnsweredWithoutABody() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer(hasBody: false).headers["content-length"] == "13")
        client.send("GET /y HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().body == "GET /y body:")
    }

    @Test func unknownMethodsReachTheHandler() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send("BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().body == "BREW /pot body:")
    }

    @Test func chunkedBodiesAreJoined() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send(
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"
        )
        client.send("0\r\n\r\n")
        #expect(try client.answer().body == "POST / body:abcde")
    }

    @Test func continueIsSentWhenTheBodyIsWelcome() throws {
        let server = try startServer(handler: echo)
        let client = try RawClient(server)
        client.send(
            "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.answer().status == 100)
        client.send("ok")
        #expect(try client.answer().body == "POST / body:ok")
    }

    @Test func aClientThatHasFinishedSendingIsStillAnswered() throws {
        let server = try startServer { request, responder in
            detach { echo(request, responder) }
        }
        let client = try RawClient(server)
        client.send("GET /half HTTP/1.1\r\nHost: h\r\n\r\n")
        client.finishSending()
        #expect(try client.answer().body == "GET /half body:")
    }

    @Test(arguments: ["127.0.0.1:80", "[::1]:0", "0.0.0.0:65535"])
    func addressesRead(text: String) {
        #expect(SocketAddress(text)?.description == text)
    }

    @Test(arguments: ["127.0.0.1", "localhost:80", "::1:80", "1.2.3.4:65536", "1.2.3.4:-1", ":80"])
    func otherAddressesDoNot(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test func loopbackIsKnown() {
        #expect(SocketAddress("127.9.0.1:1")?.isLoopback == true)
        #expect(SocketAddress("[::1]:1")?.isLoopback == true)
        #expect(SocketAddress("0.0.0.0:1")?.isLoopback == false)
        #expect(SocketAddress("[::]:1")?.isLoopback == false)
    }

    @Test func aTakenAddressIsAnError() throws {
        let server = try startServer(handler: echo)
        #expect(throws: HTTPServer.StartError.self) {
            _ = try HTTPServer(.init(address: server.address), handler: echo)
        }
    }
}

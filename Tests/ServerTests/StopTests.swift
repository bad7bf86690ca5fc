import Glibc
import Server
import Synchronization
import Testing

@Suite struct StopTests {
    /// What is handed to the handler, answered later by a thread like the engine's.
    private final class Waiting: Sendable {
        let responders = Mutex<[Responder]>([])
        let accepted = Counter()

        @Sendable func take(_ request: HTTPRequest, _ responder: Responder) {
            accepted.add()
            responders.withLock { $0.append(responder) }
        }

        /// How many of the answers were the first.
        @discardableResult
        func answerAll() -> Int {
            let batch = responders.withLock { responders in
                defer { responders = [] }
                return responders
            }
            return batch.count { $0.answer(HTTPResponse(status: 201, body: [])) }
        }
    }

    private final class Tally: Sendable {
        let started = Counter()
        let ended = Counter()
        let received = Counter()
        let refused = Counter()
        let engineEnded = Counter()
    }

    private static let request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"

    @Test func stoppingUnderLoadAnswersWhatWasAccepted() throws {
        let waiting = Waiting()
        let server = try startServer(handler: waiting.take)
        let tally = Tally()
        let clients = 16
        detach {
            while tally.ended.value < clients {
                usleep(3000)
                waiting.answerAll()
            }
            tally.engineEnded.add()
        }
        for _ in 0..<clients {
            detach {
                defer { tally.ended.add() }
                guard let client = try? RawClient(server) else { return }
                tally.started.add()
                while client.send(Self.request), let answer = try? client.answer() {
                    (answer.status == 201 ? tally.received : tally.refused).add()
                    if answer.headers["connection"]?.lowercased() == "close" { return }
                }
            }
        }
        while tally.received.value < 200 { usleep(1000) }
        server.stop(drainMilliseconds: 20_000)
        while tally.engineEnded.value == 0 { usleep(1000) }

        #expect(tally.started.value == clients)
        #expect(tally.received.value == waiting.accepted.value)
        #expect(tally.refused.value == 0)
        #expect(server.requestsUnderWay == 0)
        #expect(server.connectionCount == 0)
    }

    @Test func whatIsNotAnsweredInTimeIsAnsweredByTheServer() throws {
        let waiting = Waiting()
        let server = try startServer(handler: waiting.take)
        let clients = try (0..<8).map { _ in try RawClient(server) }
        for client in clients { client.send(Self.request) }
        while waiting.accepted.value < clients.count { usleep(1000) }
        server.stop(drainMilliseconds: 50)
        for client in clients {
            let answer = try client.answer()
            #expect(answer.status == 503)
            #expect(answer.body.contains(#""code":"shuttingDown""#))
        }
        // The late answers are ignored, and touch nothing that is gone.
        #expect(waiting.answerAll() == 0)
    }

    @Test func aStoppedServerAcceptsNothing() throws {
        let server = try startServer(handler: echo)
        let idle = try RawClient(server)
        idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try idle.answer().status == 200)
        server.stop(drainMilliseconds: 1000)
        try idle.waitForClose()
        #expect(throws: RawClient.Failure.self) { _ = try RawClient(server) }
        server.stop(drainMilliseconds: 1000)  // again: nothing happens
    }

    @Test func clientsThatVanishWhileTheyWaitLeaveNothingBehind() throws {
        let waiting = Waiting()
        let server = try startServer(handler: waiting.take)
        for _ in 0..<50 {
            let client = try RawClient(server)
            client.send(Self.request)
        }
        while waiting.accepted.value < 50 { usleep(1000) }
        waiting.answerAll()
        while server.requestsUnderWay > 0 || server.connectionCount > 0 { usleep(1000) }
        let client = try RawClient(server)
        client.send(Self.request)
        while waiting.accepted.value < 51 { usleep(1000) }
        #expect(waiting.answerAll() == 1)
        #expect(try client.answer().status == 201)
    }

    @Test func aServerThatIsLetGoStops() throws {
        let waiting = Waiting()
        var server: HTTPServer? = try startServer(handler: waiting.take)
        let client = try RawClient(try #require(server))
        client.send(Self.request)
        while waiting.accepted.value < 1 { usleep(1000) }
        server = nil
        #expect(try client.answer().status == 503)
    }
}

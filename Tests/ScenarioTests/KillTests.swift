import CSQLite
import Foundation
import JSON
import Testing

extension Scenarios {
    /// The process is killed in the middle of a stream of requests. What it acknowledged is
    /// there exactly once; what it did not acknowledge is there once or not at all.
    @Suite struct Kill {
        /// Twenty or more are for a run by hand: `make prove` takes hundreds.
        static let kills =
            ProcessInfo.processInfo.environment["DISCERN_KILLS"].flatMap { Int($0) } ?? 2
        /// Then another folder begins, so that reading it all after each kill stays cheap.
        private static let killsOfAFolder = 10
        private static let connections = 200
        /// Acknowledgements after which the process is killed; another number in each round, so
        /// that the blow falls elsewhere.
        private static func enough(_ round: Int) -> Int { 700 + 137 * (round % 7) }

        @Test func killingLosesNothingThatWasAcknowledged() throws {
            var (done, acknowledged) = (0, 0)
            while done < Self.kills {
                let rounds = done..<min(done + Self.killsOfAFolder, Self.kills)
                acknowledged += try Self.kill(rounds)
                done = rounds.upperBound
                Progress.say("\(done) of \(Self.kills) kills, \(acknowledged) acknowledged")
            }
        }

        /// Kills a service that many times, and gives how much it had acknowledged.
        private static func kill(_ rounds: Range<Int>) throws -> Int {
            let service = try Service.started()
            #expect(
                try service.client().put(
                    "/v1/authorizations", Requests.authorization("payer")
                ).status == 200)
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            var total = 0
            for round in rounds {
                let acknowledged = try stream(service, round)
                let verified = try service.command("audit", "verify")
                #expect(verified.status == 0, "\(verified.errors)")
                try service.start()
                #expect(Acknowledged.replay(acknowledged, service) == [])
                let known = ledger.entries.count
                try ledger.readOn(service.client(key: service.operatorKey))
                #expect(ledger.entries.count >= known + acknowledged.count)
                ledger.verify()
                #expect(Acknowledged.faults(ledger, acknowledged) == [])
                checkGrants(ledger)
                total += acknowledged.count
            }
            // What was read on the way is what is there at the end.
            let whole = try AuditedLedger(service.client(key: service.operatorKey))
            #expect(whole.entries.map(\.leafHash) == ledger.entries.map(\.leafHash))
            #expect(try service.stop() == 0)
            let verified = try service.command("audit", "verify")
            #expect(verified.status == 0, "\(verified.errors)")
            return total
        }

        /// Sends on all connections until the process is killed under them.
        private static func stream(_ service: Service, _ round: Int) throws -> [Acknowledged] {
            let gathered = Gathered<Acknowledged>()
            let unexpected = Gathered<String>()
            let (port, key) = (service.port, service.key)
            let threads = Threads(connections) { index in
                let client = Client(port: port, key: key)
                func take(_ path: String, _ body: JSONValue) throws {
                    let answer = try client.post(path, body)
                    if answer.status == 201 {
                        gathered.add(.init(body: body, path: path, answer: answer.json))
                    } else {
                        unexpected.add("\(path): \(answer.status) \(answer.text)")
                    }
                }
                // Ends with the connection.
                _ = try? { () throws in
                    for number in 0... {
                        let id = "r\(round)-c\(index)-\(number)"
                        if index % 2 == 0 {
                            try take(
                                "/v1/evaluations",
                                Requests.evaluation(
                                    id, subject: "payer", amount: 1, device: 0.1))
                            try take(
                                "/v1/consumption",
                                Requests.report(
                                    requestID: id, "usedUnchangedFriction"))
                        } else {
                            for donation in ["a", "b", "c"] {
                                try take(
                                    "/v1/review-prompts/donations",
                                    Requests.donation(
                                        "\(id)\(donation)", subject: id, device: id))
                            }
                        }
                    }
                }()
            }
            _ = Wait.until { gathered.count >= enough(round) ? true : nil }
            try service.kill()
            threads.join()
            #expect(unexpected.all == [])
            #expect(gathered.count >= enough(round))
            return gathered.all
        }

        /// A third donation never stands without its grant.
        private static func checkGrants(_ ledger: AuditedLedger) {
            for donation in ledger.of(kind: "donation") {
                let isThird = donation.command["idempotencyKey"]?.stringValue?.last == "c"
                #expect((donation.result["grant"] != nil) == isThird)
            }
        }

        /// As a backup does: the last program that closes a database moves its log into it and
        /// deletes the log, unless it sees that somebody else still writes there.
        @Test func anotherProgramLeavesTheLogAlone() throws {
            let service = try Service.started()
            let database = service.data + "/discern.db"
            var copy: OpaquePointer?
            try #require(sqlite3_open(database, &copy) == SQLITE_OK)
            #expect(sqlite3_exec(copy, "SELECT count(*) FROM entries", nil, nil, nil) == SQLITE_OK)
            #expect(sqlite3_close_v2(copy) == SQLITE_OK)
            #expect(Files.bytes(database + "-wal").count > 0)
            let acknowledged = try service.client().put(
                "/v1/authorizations", Requests.authorization("payer"))
            #expect(acknowledged.status == 200)
            try service.kill()
            try service.start()
            let ledger = try AuditedLedger(service.client(key: service.operatorKey))
            #expect(ledger.of(kind: "authorization").count == 1)
            #expect(try service.stop() == 0)
        }
    }
}

import Foundation
import JSON
import Testing

extension Scenarios {
    /// The process is killed in the middle of a stream of requests. What it acknowledged is
    /// there exactly once; what it did not acknowledge is there once or not at all.
    @Suite struct Kill {
        /// Twenty rounds or more are for a run by hand.
        static let rounds =
            ProcessInfo.processInfo.environment["DISCERN_KILL_ROUNDS"].flatMap { Int($0) } ?? 2
        private static let connections = 200
        /// Acknowledgements after which the process is killed; another number in each round, so
        /// that the blow falls elsewhere.
        private static func enough(_ round: Int) -> Int { 700 + 137 * (round % 7) }

        /// What was acknowledged.
        private struct Acknowledged: Sendable {
            var body: JSONValue
            var path: String
            var answer: JSONValue
        }

        @Test func killingLosesNothingThatWasAcknowledged() throws {
            let service = try Service.started()
            #expect(
                try service.client().put(
                    "/v1/authorizations", Requests.authorization("payer")
                ).status == 200)
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            for round in 0..<Self.rounds {
                let acknowledged = try Self.stream(service, round)
                try service.start()
                try Self.replay(acknowledged, service)
                let known = ledger.entries.count
                try ledger.readOn(service.client(key: service.operatorKey))
                #expect(ledger.entries.count >= known + acknowledged.count)
                Self.check(&ledger, acknowledged)
            }
            // What was read on the way is what is there at the end.
            let whole = try AuditedLedger(service.client(key: service.operatorKey))
            #expect(whole.entries.map(\.leafHash) == ledger.entries.map(\.leafHash))
            #expect(try service.stop() == 0)
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

        /// Everything acknowledged is sent again: each answer is the stored one.
        private static func replay(_ acknowledged: [Acknowledged], _ service: Service) throws {
            let wrong = Gathered<String>()
            let (port, key) = (service.port, service.key)
            let workers = 8
            concurrently(workers) { worker in
                let client = Client(port: port, key: key)
                for item in acknowledged[...].striding(from: worker, by: workers) {
                    guard let answer = try? client.post(item.path, item.body) else {
                        wrong.add("\(item.path): no answer")
                        continue
                    }
                    // A report that came later changes the state that the answer shows.
                    let (was, now) = (item.answer, answer.json)
                    let same = ["evaluationID", "grant", "decision", "insights", "reportedAt"]
                        .allSatisfy { was[$0] == now[$0] }
                    if answer.status != 200 || now["replayed"] != true || !same {
                        wrong.add("\(item.path): \(answer.status) \(answer.text)")
                    }
                }
            }
            #expect(wrong.all == [])
        }

        private static func check(
            _ ledger: inout AuditedLedger, _ acknowledged: [Acknowledged]
        ) {
            ledger.verify()
            let evaluations = ledger.of(kind: "evaluation")
            let requestIDs = evaluations.map { $0.command["requestID"]?.stringValue ?? "?" }
            #expect(Set(requestIDs).count == requestIDs.count, "an evaluation is there twice")
            let reported = ledger.of(kind: "consumption")
                .map { $0.command["evaluationID"]?.stringValue ?? "?" }
            #expect(Set(reported).count == reported.count, "a report is there twice")
            let donations = ledger.of(kind: "donation")
            let keys = donations.map { $0.command["idempotencyKey"]?.stringValue ?? "?" }
            #expect(Set(keys).count == keys.count, "a donation is there twice")

            let (knownIDs, knownReports, knownKeys) = (Set(requestIDs), Set(reported), Set(keys))
            for item in acknowledged {
                switch item.path {
                case "/v1/evaluations":
                    #expect(knownIDs.contains(item.body["requestID"]?.stringValue ?? "-"))
                case "/v1/consumption":
                    #expect(knownReports.contains(item.answer["evaluationID"]?.stringValue ?? "-"))
                default:
                    #expect(knownKeys.contains(item.body["idempotencyKey"]?.stringValue ?? "-"))
                }
            }
            // A report never stands without its evaluation, a third donation without a grant.
            let evaluationIDs = Set(
                evaluations.map { $0.result["evaluationID"]?.stringValue ?? "?" })
            #expect(evaluationIDs.isSuperset(of: reported))
            for donation in donations {
                let isThird = donation.command["idempotencyKey"]?.stringValue?.last == "c"
                #expect((donation.result["grant"] != nil) == isThird)
            }
        }
    }
}

extension ArraySlice {
    /// Every so-manyth element.
    func striding(from first: Int, by step: Int) -> [Element] {
        stride(from: startIndex + first, to: endIndex, by: step).map { self[$0] }
    }
}

import JSON
import Testing

extension Scenarios {
    /// A thousand donations of one person at once, from two devices.
    @Suite struct Crowd {
        private static let threads = 8
        /// Connections of a thread, one for each donation: all are sent before an answer is read.
        private static let perThread = 125
        private static let count = threads * perThread

        /// Sends all of them and gives the answers by key; what went wrong goes to `failures`.
        private static func donate(_ service: Service, _ failures: Gathered<String>)
            -> [Int: Answer]
        {
            let answers = Gathered<(number: Int, answer: Answer)>()
            let (port, key) = (service.port, service.key)
            let barrier = Barrier(threads)
            concurrently(threads) { thread in
                let clients = (0..<perThread).map { _ in Client(port: port, key: key) }
                func each(_ body: (Int, Client) throws -> Void) {
                    for (place, client) in clients.enumerated() {
                        do {
                            try body(thread * perThread + place, client)
                        } catch { failures.add("\(error)") }
                    }
                }
                each { _, client in try client.connect() }
                barrier.wait()
                each { number, client in
                    let body = Requests.donation(
                        "d-\(number)", subject: "anna",
                        device: number.isMultiple(of: 2) ? "phone" : "tablet")
                    try client.begin("POST", "/v1/review-prompts/donations", body.canonicalBytes)
                }
                each { number, client in answers.add((number, try client.finish())) }
            }
            return Dictionary(answers.all.map { ($0.number, $0.answer) }) { first, _ in first }
        }

        private static func failing(_ answer: Answer) -> [String] {
            (answer["verdicts"]?.arrayValue ?? []).filter { $0["result"] != "pass" }
                .compactMap { $0["rule"]?.stringValue }
        }

        @Test func caseR9_R10_aThousandAtOnceGiveOneGrant() throws {
            let service = try Service.started()
            let failures = Gathered<String>()
            let first = Self.donate(service, failures)
            #expect(failures.all == [])
            #expect(first.count == Self.count)
            #expect(first.values.allSatisfy { $0.status == 201 })
            let asked = first.values.filter { $0["decision"] == "ask" }
            #expect(asked.count == 1)
            let id = try #require(asked.first?["grant"]?["grantID"]?.stringValue)
            // Two were too few, and all the others met the open grant.
            let held = first.values.filter { $0["decision"] == "hold" }.map(Self.failing)
            #expect(held.count { $0 == ["finishedTranscript"] } == 2)
            #expect(held.count { $0.contains("reservation") } == Self.count - 3)

            // All of them again, at once: each is told what it was told.
            let again = Self.donate(service, failures)
            #expect(failures.all == [])
            #expect(again.count == Self.count)
            for (number, answer) in again {
                #expect(answer.status == 200)
                #expect(answer.json == first[number]?.json.with("/replayed", true))
            }

            let client = service.client()
            let report = try client.post(
                "/v1/review-prompts/grants/\(id)", ["outcome": "requested", "subject": "anna"])
            #expect(report.status == 200)
            for device in ["phone", "tablet"] {
                let later = try client.post(
                    "/v1/review-prompts/donations",
                    Requests.donation("later-\(device)", subject: "anna", device: device))
                #expect(Self.failing(later).contains("interval"))
            }
            let recorded = try AuditedLedger(client).of(kind: "donation")
            #expect(recorded.count == Self.count + 2)
            #expect(recorded.count { $0.result["grant"] != nil } == 1)
            #expect(try service.stop() == 0)
        }
    }
}

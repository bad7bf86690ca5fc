import JSON
import Testing

extension Scenarios {
    /// Two donations that are each the third one, at the same instant: one grant.
    @Suite struct Pairs {
        private static let pairs = 200
        private static let groups = 4

        /// With the devices and keys of both halves of a pair.
        @Test(arguments: [true, false]) func twoDonationsAtOnceGiveOneGrant(
            twoDevices: Bool
        ) throws {
            let service = try Service.started()
            let answers = Gathered<(pair: Int, answer: Answer)>()
            let failures = Gathered<String>()
            let (port, key) = (service.port, service.key)
            let perGroup = Self.pairs / Self.groups
            let barriers = (0..<Self.groups).map { _ in Barrier(2) }
            concurrently(2 * Self.groups) { thread in
                let (group, half) = (thread / 2, thread % 2)
                let client = Client(port: port, key: key)
                for number in 0..<perGroup {
                    let pair = group * perGroup + number
                    func donate(_ key: String, device: String) {
                        let body = Requests.donation(
                            "\(key)-\(pair)", subject: "person-\(pair)",
                            device: "\(device)-\(pair)")
                        do {
                            let answer = try client.post("/v1/review-prompts/donations", body)
                            if answer.status != 201 { failures.add(answer.text) }
                            if key.hasPrefix("third") { answers.add((pair, answer)) }
                        } catch {
                            failures.add("\(error)")
                        }
                    }
                    // Each half prepares the person with one donation.
                    donate("prepare\(half)", device: "device0")
                    barriers[group].wait()
                    donate("third\(half)", device: twoDevices ? "device\(half)" : "device0")
                    barriers[group].wait()
                }
            }
            #expect(failures.all == [])
            try Self.check(answers.all)
            let granted = try AuditedLedger(service.client()).of(kind: "donation")
                .filter { $0.result["grant"] != nil }
            #expect(granted.count == Self.pairs)
            #expect(try service.stop() == 0)
        }

        private static func check(_ answers: [(pair: Int, answer: Answer)]) throws {
            #expect(answers.count == 2 * pairs)
            let grants = answers.compactMap { $0.answer["grant"]?["grantID"]?.stringValue }
            #expect(grants.count == pairs)
            #expect(Set(grants).count == pairs)
            for (pair, both) in Dictionary(grouping: answers, by: \.pair) {
                let decisions = both.map { $0.answer.string("decision") ?? "?" }.sorted()
                #expect(decisions == ["ask", "hold"], "pair \(pair)")
                // The other one is told why.
                let held = both.first { $0.answer["decision"] == "hold" }
                let failing = (held?.answer["verdicts"]?.arrayValue ?? [])
                    .filter { $0["result"] == "fail" }.compactMap { $0["rule"]?.stringValue }
                #expect(failing.contains("reservation"), "pair \(pair)")
            }
        }
    }
}

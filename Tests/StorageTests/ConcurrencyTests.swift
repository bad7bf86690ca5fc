import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// Many callers at once: one order, one policy set for each command.
@Suite struct ConcurrencyTests {
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let threads = (0..<count).map { index in
            Thread(name: "caller \(index)") { body(index) }
        }
        for thread in threads { thread.join() }
    }

    @Test func caseE33_E38_oneOrderAndAlwaysTheSameDecision() throws {
        let stage = try Stage()
        let load = try Stage.load(["transcripts-payments.yaml", "models/coached-scorecard.yaml"])
        _ = stage.perform([
            Submission(tenant: nil, actor: "o", command: .administer(.loadPolicies(load)))
        ])
        let people = (0..<8).map { "person \($0)" }
        _ = stage.perform(
            people.map {
                Submission(
                    tenant: Stage.sandbox, actor: "o",
                    command: stage.authorize($0, .authorized, Stage.sandbox))
            })
        // Two rules match together: held, and stepped up on spending.
        let commands = people.indices.map { person in
            (0..<40).map { stage.evaluate("\(person)-\($0)", people[person], amount: 2001) }
        }
        let records = Guarded<[EvaluationRecord]>([])
        together(people.count) { [engine = stage.engine] person in
            for command in commands[person] {
                let reply = engine.perform(
                    Submission(tenant: Stage.sandbox, actor: "k", command: command))
                if let record = reply.evaluation?.record { records.signal { $0.append(record) } }
            }
        }
        let all = records.withLock { $0 }
        #expect(all.count == 320)
        #expect(Set(all.map(\.evaluationID.sequence)).count == 320)
        for record in all {
            let rules = record.decision.reasons.map(\.rule)
            #expect(rules.starts(with: ["hold-coached-transfer", "step-up-on-spending"]))
            #expect(
                record.decision.output.steps.steps.starts(with: [.warn, .stepUp, .manualReview]))
        }
        // Every caller's events are counted in the caller's own order, none twice, none lost.
        for person in people.indices {
            let own = all.filter { $0.requestID.hasPrefix("\(person)-") }
                .sorted { $0.evaluationID.sequence < $1.evaluationID.sequence }
            #expect(own.map(\.requestID) == (0..<40).map { "\(person)-\($0)" })
            #expect(own.map { $0.velocity[0] } == (0..<40).map { .count($0) })
        }
        let entries = try stage.entries()
        #expect(entries.map(\.envelope.sequence) == Array(1...Int64(entries.count)))
        var frontier = MerkleFrontier()
        for entry in entries { _ = frontier.append(MerkleTree.leaf(entry.envelopeBytes)) }
        #expect(try stage.store.tail().frontier == frontier)
        for (left, right) in zip(entries, entries.dropFirst()) {
            #expect(left.envelope.at <= right.envelope.at)
        }
    }

    @Test func caseE39_aCommandSeesOneWholeSet() throws {
        let stage = try Stage()
        // Version n steps up above n × 100.
        let loads = try (1...9).map { version in
            try Stage.load(
                ["models/coached-scorecard.yaml"],
                [try Stage.payments(version, limit: version * 100)], activates: true)
        }
        _ = stage.perform([
            Submission(tenant: nil, actor: "o", command: .administer(.loadPolicies(loads[0]))),
            Submission(
                tenant: Stage.sandbox, actor: "o",
                command: stage.authorize("p", .authorized, Stage.sandbox)),
        ])
        // Read under the first version; whoever acts when it is judged reads it again.
        let commands = (0..<240).map {
            stage.evaluate("r\($0)", "person \($0)", amount: 450, device: 0.1)
        }
        let records = Guarded<[EvaluationRecord]>([])
        let refusals = Guarded<[Refusal]>([])
        together(3) { [engine = stage.engine] index in
            if index == 0 {
                for (number, load) in loads.dropFirst().enumerated() {
                    // However the threads are scheduled, the sets change while people are judged.
                    _ = records.wait(milliseconds: 30_000) {
                        $0.count >= 20 * (number + 1) ? true : nil
                    }
                    for _ in 0..<6 {
                        _ = engine.perform(
                            Submission(
                                tenant: nil, actor: "o",
                                command: .administer(.loadPolicies(load))))
                    }
                }
                return
            }
            for command in commands[(index - 1) * 120..<index * 120] {
                let reply = engine.perform(
                    Submission(tenant: Stage.sandbox, actor: "k", command: command))
                if let record = reply.evaluation?.record { records.signal { $0.append(record) } }
                if let refusal = reply.refusal { refusals.signal { $0.append(refusal) } }
            }
        }
        #expect(refusals.withLock { $0 } == [])
        let all = records.withLock { $0 }
        #expect(all.count == 240)
        for record in all {
            let isOver = 450 > record.policy.version * 100
            #expect(
                record.decision.reasons.contains { $0.rule == "step-up-on-spending" } == isOver,
                "version \(record.policy.version)")
            #expect(record.verdicts.count == 8)
        }
        #expect(Set(all.map(\.policy.version)).count > 1, "nothing was swapped meanwhile")
    }

    @Test func caseE40_aBadLoadLeavesTheLastGoodOneInForce() throws {
        let service = try Service()
        service.authorize("acct-42")
        let before = try #require(service.perform(service.evaluation("r1")).evaluation).record
        service.clock.advance(.hours(1))
        let faults = ["p.yaml:3:1: error: no [policy.unknownKey]", "second"]
        let bad = service.administer(.loadPolicies(CandidateLoad(files: [], faults: faults)))
        #expect(bad.refusal?.code == .policyInvalid)
        #expect(
            bad.refusal?.members["faults"] == .array(faults.map { .string($0) }))
        for _ in 0..<2 {
            let state = service.engine.directory.registry.loadFaults
            #expect(state?.faults == faults)
            #expect(state?.at == Service.start + .hours(1))
            let after = try #require(
                service.perform(service.evaluation("r\(Int.random(in: 2...Int.max))")).evaluation
            ).record
            #expect(after.policy == before.policy)
            try service.restart()
        }
        // The next good one clears it, even if it brings nothing new.
        service.administer(.loadPolicies(try Service.shipped()))
        #expect(service.engine.directory.registry.loadFaults == nil)
        try service.restart()
        #expect(service.engine.directory.registry.loadFaults == nil)
    }

    @Test func caseE41_twoThatWouldActForOneCategoryAreRefusedAndNothingIsAdded() throws {
        let stage = try Stage()
        let rival = try Stage.payments(1, path: "rival.yaml")
        let load = try Stage.load(
            ["transcripts-payments.yaml", "models/coached-scorecard.yaml"],
            [(rival.path, rival.text.replacing("name: transcripts-payments", with: "name: rival"))])
        let reply = stage.perform([
            Submission(tenant: nil, actor: "o", command: .administer(.loadPolicies(load)))
        ])
        #expect(reply.first?.refusal?.code == .policyConflict)
        #expect(stage.engine.directory.catalog.all.isEmpty)
        // The refusal is recorded, and says why; nothing of the load is.
        let entries = try stage.entries()
        #expect(entries.map(\.envelope.kind) == ["policies"])
        let record = try entries[0].record(PoliciesRecord.self)
        #expect(record.files.isEmpty && record.activations.isEmpty)
        #expect(record.faults.count == 1)
        #expect(stage.engine.directory.registry.loadFaults?.faults == record.faults)
    }
}

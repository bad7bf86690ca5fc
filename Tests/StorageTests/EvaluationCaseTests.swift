import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// The cases about evaluations.
@Suite struct EvaluationCaseTests {
    private static let tick = Duration.milliseconds(1)

    private func service(_ change: (inout Configuration) -> Void = { _ in }) throws -> Service {
        var configuration = Configuration()
        change(&configuration)
        let service = try Service(configuration: configuration)
        service.authorize("acct-42")
        return service
    }

    @Test func caseT12_T16_E3_oneRequestIsOneEvaluation() throws {
        let service = try service()
        let command = service.evaluation("r1")
        let answers = Guarded<[EvaluationRecord]>([])
        let fresh = Guarded(0)
        let threads = (0..<8).map { index in
            Thread(name: "caller \(index)") { [engine = service.engine] in
                let reply = engine.perform(
                    Submission(tenant: Service.tenant, actor: "k", command: command))
                guard case .evaluation(let judged, let isReplay, _) = reply.content else { return }
                answers.signal { $0.append(judged.record) }
                if !isReplay { fresh.signal { $0 += 1 } }
            }
        }
        for thread in threads { thread.join() }
        #expect(fresh.withLock { $0 } == 1)
        let records = answers.withLock { $0 }
        #expect(records.count == 8)
        #expect(records.allSatisfy { $0 == records[0] })
        var count = 0
        try service.store.reader.scan(from: 1) {
            if $0.envelope.kind == "evaluation" { count += 1 }
            return true
        }
        #expect(count == 1)
    }

    @Test(arguments: [
        (119_999 as Int64, Refusal.Code?.none), (120_000, nil), (120_001, .deviceResultExpired),
        (121_000, .deviceResultExpired), (-300_000, nil), (-300_001, .clockSkew),
    ])
    func caseT17_aDeviceResultIsFreshFor120Seconds(age: Int64, code: Refusal.Code?) throws {
        let service = try service()
        let device = DeviceResult(
            value: 0.5, generatedAt: service.clock.now - .milliseconds(age), requestID: "r1")
        let refusal = service.perform(service.evaluation("r1", device: device)).refusal
        #expect(refusal?.code == code)
        #expect(refusal?.isRetryable == (code == nil ? nil : code == .deviceResultExpired))
    }

    @Test func caseT18_T21_theDaysLimitIsOfOneAppAndEnvironment() throws {
        let service = try service { $0.evaluationsPerDay = 3 }
        for index in 0..<3 {
            #expect(service.perform(service.evaluation("r\(index)")).evaluation != nil)
        }
        let refusal = try #require(service.perform(service.evaluation("r3")).refusal)
        #expect(refusal.code == .rateLimitExceeded)
        #expect(refusal.members["scope"] == "app")
        #expect(refusal.members["limit"] == 3)
        #expect(refusal.members["used"] == 3)
        #expect(refusal.members["reset"] == "2026-12-01T00:00:00.000Z")
        #expect(refusal.members["retryAfter"] == .int(12 * 3600))
        #expect(refusal.isRetryable)
        // Replays pass, and the other environment has a count of its own.
        #expect(service.perform(service.evaluation("r0")).evaluation?.isReplay == true)
        let production = Tenant(app: "transcripts", environment: .production)
        let live = service.perform(
            service.evaluation("r3", device: nil, tenant: production), tenant: production)
        #expect(live.evaluation?.record.isRefused == true)
        // The day ends at its own instant, and the count is there after a restart.
        try service.restart()
        service.clock.advance(.hours(12) - Self.tick)
        #expect(service.perform(service.evaluation("r4")).refusal?.code == .rateLimitExceeded)
        service.clock.advance(Self.tick)
        #expect(service.perform(service.evaluation("r5")).evaluation != nil)
    }

    @Test func caseT20_everyAnswerSaysTheCause() throws {
        let service = try service { $0.evaluationsPerDay = 1 }
        service.perform(service.evaluation("r0"))
        let shape = Refusal(.contextInvalid, "no", reason: "unknownAttribute")
        for index in 0..<3 {
            // Not the throttle, which holds as well.
            let bad = service.evaluation("bad\(index)", attributes: .failure(shape))
            #expect(service.perform(bad).refusal == shape)
            let over = service.perform(service.evaluation("c\(index)")).refusal
            #expect(over?.code == .rateLimitExceeded)
        }
    }

    @Test func caseT23_whereNobodyActsTheAnswerIsAnError() throws {
        let stage = try Stage()
        for id in ["r1", "r1", "r2"] {
            let reply = stage.perform([
                Submission(tenant: Stage.sandbox, actor: "k", command: stage.evaluate(id))
            ])
            #expect(reply.first?.refusal?.code == .contextInvalid)
            #expect(reply.first?.refusal?.reason == "noPolicy")
            #expect(reply.first?.refusal?.value == "payment")
        }
        #expect(try stage.entries().isEmpty)
    }

    @Test func caseT31_anOnlineEvaluationCountsAtTheEnginesNow() throws {
        let service = try service()
        // The device made its result up to two minutes ago: that moves no event.
        for index in 0..<3 {
            let device = DeviceResult(value: 0.1, generatedAt: service.clock.now - .seconds(110))
            let record = try #require(
                service.perform(service.evaluation("r\(index)", device: device)).evaluation
            ).record
            #expect(record.receivedAt == service.clock.now)
        }
        service.clock.advance(.hours(1) - Self.tick)
        let full = try #require(service.perform(service.evaluation("r3")).evaluation).record
        #expect(full.velocity[0] == .count(3))
        service.clock.advance(Self.tick)
        let next = try #require(service.perform(service.evaluation("r4")).evaluation).record
        #expect(next.velocity[0] == .count(1))
    }

    @Test func aNewPolicyVersionSeesTheWholeHistory() throws {
        let stage = try Stage()
        let model = "models/coached-scorecard.yaml"
        let old = try Stage.load(["transcripts-payments.yaml", model])
        let wider = try Stage.payments(4)
        let new = try Stage.load(
            [model], [(wider.path, wider.text.replacing("window: 1h", with: "window: 60d"))],
            activates: true)
        func perform(_ tenant: Tenant?, _ command: Command) -> Reply? {
            stage.perform([Submission(tenant: tenant, actor: "k", command: command)]).first
        }
        _ = perform(nil, .administer(.loadPolicies(old)))
        _ = perform(Stage.sandbox, stage.authorize("anna", .authorized, Stage.sandbox))
        for index in 0..<5 { _ = perform(Stage.sandbox, stage.evaluate("early \(index)")) }
        // By now the windows of the old version have forgotten all of them.
        stage.clock.advance(.days(30))
        for index in 0..<2 {
            let record = perform(Stage.sandbox, stage.evaluate("late \(index)"))?.evaluation?.record
            #expect(record?.velocity[0] == .count(Int64(index)))
        }
        _ = perform(nil, .administer(.loadPolicies(new)))
        let record = perform(Stage.sandbox, stage.evaluate("new"))?.evaluation?.record
        #expect(record?.policy.version == 4)
        #expect(record?.velocity[0] == .count(7))
    }

    @Test func theClockNeverGoesBack() throws {
        let service = try service()
        let first = try #require(service.perform(service.evaluation("r1")).evaluation).record
        service.clock.advance(.hours(-5))
        let second = try #require(service.perform(service.evaluation("r2")).evaluation).record
        #expect(second.receivedAt == first.receivedAt)
        try service.restart()
        let third = try #require(service.perform(service.evaluation("r3")).evaluation).record
        #expect(third.receivedAt == first.receivedAt)
        #expect(third.velocity[0] == .count(2))
    }

    @Test(arguments: InsightError.allCases)
    func caseT37_aTechnicalErrorIsNeverARisk(_ error: InsightError) throws {
        let service = try service()
        let record = try #require(
            service.perform(service.evaluation("r1", force: .insightError(error))).evaluation
        ).record
        #expect(record.acting.outcome == .unknown)
        #expect(record.acting.score == nil)
        #expect(record.acting.degraded == error.rawValue)
        #expect(record.decision.output.friction >= .unchanged)
        #expect(record.results.map(\.error) == [error])
    }

    @Test func caseE9_replayedEventsKeepTheirDistance() throws {
        let stage = try Stage()
        var story = Story()
        let load = try Stage.load(["transcripts-payments.yaml", "models/coached-scorecard.yaml"])
        story.then("start") { stage in
            [
                (nil, .administer(.loadPolicies(load))),
                (Stage.sandbox, stage.authorize("anna", .authorized, Stage.sandbox)),
            ]
        }
        story.then("one") { [(Stage.sandbox, $0.evaluate("r1"))] }
        story.then("two hours later", after: .hours(2)) { [(Stage.sandbox, $0.evaluate("r2"))] }
        try story.tell(on: stage)
        // Replayed within an instant of real time.
        let again = try Stage()
        var replay = Replay(zones: .utc)
        var records: [EvaluationRecord] = []
        for entry in try stage.entries() {
            guard case .command(let submission, let at) = try replay.step(entry) else { continue }
            again.clock.advance(at - again.clock.now)
            records += again.perform([submission]).compactMap { $0.evaluation?.record }
        }
        #expect(records.count == 2)
        #expect(records.last?.velocity == [.count(0), .sum(900), .count(1)])
        #expect(records[1].receivedAt - records[0].receivedAt == .hours(2))
    }

    @Test func caseE19_anInputThatFailsIsLeftOutAndDegrades() throws {
        let model = """
            kind: scorecard
            name: three
            version: 1
            provenance: {author: tests}
            inputs:
              - {name: attributes.a, weight: 1}
              - {name: attributes.b, weight: 1}
              - {name: attributes.text, weight: 1}
            """
        let policy = """
            kind: trust
            name: three-inputs
            version: 1
            categories: [payment]
            attributes:
              a: {type: double}
              b: {type: double}
              text: {type: string, optional: true}
            model: {name: three, version: 1, medium: 0.4, high: 0.9}
            rule:
              match:
                - {id: easy, condition: insight.outcome == "medium", output: {friction: reduced}}
                - {output: {friction: unchanged}}
            """
        let stage = try Stage()
        let load = try Stage.load([], [("m.yaml", model), ("p.yaml", policy)])
        _ = stage.perform([
            Submission(tenant: nil, actor: "o", command: .administer(.loadPolicies(load))),
            Submission(
                tenant: Stage.sandbox, actor: "k",
                command: stage.authorize("anna", .authorized, Stage.sandbox)),
        ])
        func judge(_ id: String, _ more: [RecordedAttribute]) throws -> EvaluationRecord {
            let attributes =
                [
                    RecordedAttribute(name: "a", value: .value(.double(1))),
                    RecordedAttribute(name: "b", value: .value(.double(0))),
                ] + more
            let command = EvaluateCommand(
                tenant: Stage.sandbox, requestID: id, subject: stage.subject("anna"),
                action: stage.pseudonymizer.action(Array(id.utf8), tenant: Stage.sandbox),
                category: .payment, attributes: .success(attributes),
                policyDigest: stage.engine.directory
                    .acting(for: Stage.sandbox, category: .payment)?.reference.digest ?? "",
                device: DeviceResult(value: 0.5))
            let replies = stage.perform([
                Submission(tenant: Stage.sandbox, actor: "k", command: .evaluate(command))
            ])
            return try #require(replies.first?.evaluation?.record)
        }
        let failed = try judge(
            "failed", [RecordedAttribute(name: "text", value: .value(.string("x")))])
        #expect(failed.acting.score == 0.5)
        #expect(failed.acting.outcome == .medium)
        #expect(failed.acting.degraded == "inputFailed: attributes.text")
        #expect(failed.decision.output.friction == .unchanged)
        #expect(failed.decision.reasons == [Reason(rule: "easy", note: "reducedWhileDegraded")])
        let missing = try judge("missing", [])
        #expect(missing.acting.score == 0.5)
        #expect(missing.acting.degraded == nil)
        #expect(missing.decision.output.friction == .reduced)
    }

    @Test func caseE21_aCallersNamesAreNoEnginesValues() throws {
        let service = try service()
        let acting = try #require(
            service.engine.directory.acting(for: Service.tenant, category: .payment))
        for name in ["velocity", "now", "score", "insight", "payments1h", "velocity.payments1h"] {
            let refusal = #expect(throws: Refusal.self) {
                try acting.readAttributes(
                    ["amount": 1, "currency": "EUR", "newPayee": true, "\(name)": 0],
                    at: "/context/attributes", pseudonymizer: service.pseudonymizer,
                    tenant: Service.tenant)
            }
            #expect(refusal?.reason == "unknownAttribute")
            #expect(refusal?.field == "/context/attributes/" + name)
        }
    }

    @Test func caseE25_numbersHaveOneTextOnEveryPath() throws {
        let service = try service()
        for (index, amount) in [0.1, 0.2, 3.7].enumerated() {
            service.perform(service.evaluation("r\(index)", amount: amount))
        }
        let last = try #require(service.perform(service.evaluation("r3", amount: 512.3)).evaluation)
            .record
        // 0.1 + 0.2 + 3.7, rounded once.
        #expect(last.velocity[1] == .sum(4.0))
        #expect(last.decision.reasons.first?.explanation == "transfer of 512.3 to a new payee")
        let entry = try #require(try service.store.reader.entry(last.evaluationID.sequence))
        let text = String(decoding: entry.payload, as: UTF8.self)
        #expect(text.contains(#""amount":512.3,"#))
        #expect(text.contains(#""velocity":[3,4.0,0]"#))
        try service.restart()
        #expect(
            service.perform(service.evaluation("r3", amount: 512.3)).evaluation?.record == last)
    }

    @Test func caseE34_aChangeWithoutAnActorIsRecordedAsUnknown() throws {
        let service = try service()
        _ = service.engine.perform(
            Submission(tenant: Service.tenant, actor: "", command: service.evaluation("r1")))
        let sequence = try service.store.tail().nextSequence - 1
        #expect(try service.store.reader.entry(sequence)?.envelope.actor == "unknown")
    }
}

import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// The trust flow through the engine on a real database, by its rules one after another.
@Suite struct TrustFlowTests {
    @Test func aCoachedPaymentIsHeldReportedAndLabelled() throws {
        let service = try Service()
        service.authorize("acct-42")
        let evaluated = try #require(service.perform(service.evaluation("tx-1")).evaluation)
        let record = evaluated.record
        #expect(record.acting.outcome == .high)
        #expect(record.decision.output.friction == .increased)
        #expect(record.decision.output.steps.steps == [.warn, .manualReview])
        #expect(record.decision.output.holdFor == .minutes(15))
        #expect(
            record.decision.reasons
                == [
                    Reason(
                        rule: "hold-coached-transfer",
                        explanation: "transfer of 900 to a new payee")
                ])
        let report = ReportCommand(
            evaluation: .requestID("tx-1"), status: .usedIncreasedFriction)
        guard
            case .consumption(let consumption, false) =
                service.perform(.reportConsumption(report)).content
        else {
            Issue.record("the report was not taken")
            return
        }
        #expect(consumption.flags == [])
        let other = ReportCommand(evaluation: .requestID("tx-1"), status: .usedReducedFriction)
        #expect(service.perform(.reportConsumption(other)).refusal?.code == .alreadyReported)
        let label = LabelCommand(
            labelID: "l-1", evaluation: .evaluationID(record.evaluationID.text),
            label: .confirmedFraud, category: .vishing, source: .customerReport,
            occurredAt: Service.start)
        guard case .label(_, .recorded) = service.perform(.label(label)).content else {
            Issue.record("the label was not taken")
            return
        }
        guard case .label(_, .replayed) = service.perform(.label(label)).content else {
            Issue.record("the label was not known again")
            return
        }
    }

    @Test func aRetryGetsTheStoredAnswerAlsoAfterARestart() throws {
        let service = try Service()
        service.authorize("acct-42")
        let first = try #require(service.perform(service.evaluation("r1")).evaluation)
        let again = try #require(service.perform(service.evaluation("r1")).evaluation)
        #expect(again.isReplay)
        #expect(again.record == first.record)
        try service.restart()
        let later = try #require(service.perform(service.evaluation("r1")).evaluation)
        #expect(later.isReplay)
        #expect(later.record == first.record)
        // Another action under the same id is none of these.
        let other = service.perform(service.evaluation("r1", amount: 901))
        #expect(other.refusal?.code == .requestIDReused)
    }

    @Test func refusingTheInsightDoesNotMeanLessFriction() throws {
        let service = try Service()
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        #expect(record.authorization == .notDetermined)
        #expect(record.acting.outcome == .unknown)
        #expect(record.device == nil)
        #expect(record.reportDueAt == nil)
        #expect(record.isRefused)
        // It counts in velocity, and the same request may come again once it is authorized.
        service.authorize("acct-42")
        let again = try #require(service.perform(service.evaluation("r1")).evaluation)
        #expect(!again.isReplay)
        #expect(again.record.velocity[0] == .count(0))
        let next = try #require(service.perform(service.evaluation("r2")).evaluation)
        #expect(next.record.velocity[0] == .count(1))
        let report = service.perform(
            .reportConsumption(
                ReportCommand(
                    evaluation: .evaluationID(record.evaluationID.text),
                    status: .usedUnchangedFriction)))
        #expect(report.refusal?.code == .reportNotOwed)
    }

    @Test func switchingOffTakesEffectAfterTheCoolDown() throws {
        let service = try Service()
        service.authorize("acct-42")
        guard
            case .authorization(let status, let endsAt?) = service.authorize("acct-42", .denied)
                .content
        else {
            Issue.record("no pending end")
            return
        }
        #expect(status == .authorized)
        #expect(endsAt == Service.start + .hours(24))
        service.clock.advance(.hours(24))
        #expect(
            service.perform(service.evaluation("in-time")).evaluation?.record.isRefused == false)
        service.clock.advance(.milliseconds(1))
        #expect(service.perform(service.evaluation("late")).evaluation?.record.isRefused == true)
    }

    @Test(arguments: [
        (DeviceResult?.none, Refusal.Code.localError),
        (DeviceResult(value: 0.9, requestID: "another"), .payloadSecurityError),
        (
            DeviceResult(value: 0.9, generatedAt: Service.start - .milliseconds(120_001)),
            .deviceResultExpired
        ),
        (DeviceResult(value: 0.9, generatedAt: Service.start + .milliseconds(300_001)), .clockSkew),
    ])
    func unusableDeviceResultsAreToldApart(device: DeviceResult?, code: Refusal.Code) throws {
        let service = try Service()
        service.authorize("acct-42")
        let reply = service.perform(service.evaluation("r1", device: device))
        #expect(reply.refusal?.code == code)
        // A refused request does not occupy its id.
        #expect(service.perform(service.evaluation("r1")).evaluation?.isReplay == false)
    }

    @Test func aDeviceResultOf120SecondsIsStillFresh() throws {
        let service = try Service()
        service.authorize("acct-42")
        let device = DeviceResult(
            value: 0.9, generatedAt: Service.start - .seconds(120), requestID: "r1")
        #expect(service.perform(service.evaluation("r1", device: device)).evaluation != nil)
    }

    @Test func windowsCountToTheMillisecondAndSurviveARestart() throws {
        let service = try Service()
        service.authorize("acct-42")
        for index in 0..<3 {
            service.perform(service.evaluation("r\(index)", amount: 0.1))
            service.clock.advance(.minutes(1))
        }
        let third = try #require(service.perform(service.evaluation("r3", amount: 7)).evaluation)
        #expect(third.record.velocity == [.count(3), .sum(0.30000000000000004), .count(0)])
        try service.restart()
        // One hour after the first event, it has just left the window (now − 1h, now].
        service.clock.advance(.minutes(57))
        let later = try #require(service.perform(service.evaluation("r4")).evaluation)
        #expect(later.record.velocity[0] == .count(3))
        #expect(later.record.velocity[1] == .sum(7.3))
    }

    @Test func debtRefusesThenSuspendsAndReportingLiftsIt() throws {
        var configuration = Configuration()
        configuration.debt.minimum = 2
        let service = try Service(configuration: configuration)
        service.authorize("acct-42")
        for index in 0..<3 { service.perform(service.evaluation("r\(index)")) }
        service.clock.advance(.hours(1))
        // The due instant itself is still in time.
        #expect(service.perform(service.evaluation("in-time")).evaluation != nil)
        service.clock.advance(.milliseconds(1))
        let refused = service.perform(service.evaluation("late"))
        #expect(refused.refusal?.code == .reportDebt)
        #expect(refused.debt == 3)
        #expect(refused.refusal?.members["evaluations"]?.arrayValue?.count == 3)
        #expect(refused.refusal?.isRetryable == false)
        service.clock.advance(.hours(24))
        #expect(service.perform(service.evaluation("later")).refusal?.code == .accessSuspended)
        // Replays and reports always pass; enough reports lift the suspension at once.
        #expect(service.perform(service.evaluation("r0")).evaluation?.isReplay == true)
        for index in 0..<3 {
            service.perform(
                .reportConsumption(
                    ReportCommand(
                        evaluation: .requestID("r\(index)"), status: .usedIncreasedFriction)))
        }
        #expect(service.perform(service.evaluation("after")).evaluation != nil)
    }

    @Test func sandboxAndProductionNeverMix() throws {
        let service = try Service()
        service.authorize("acct-42")
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        let production = Tenant(app: "transcripts", environment: .production)
        let label = LabelCommand(
            labelID: "l", evaluation: .evaluationID(record.evaluationID.text),
            label: .confirmedFraud, category: nil, source: .partner, occurredAt: Service.start)
        #expect(
            service.perform(.label(label), tenant: production).refusal?.code
                == .environmentMismatch)
        let stranger = Tenant(app: "other", environment: .sandbox)
        #expect(service.perform(.label(label), tenant: stranger).refusal?.code == .notFound)
        #expect(
            service.perform(
                service.evaluation("f", force: .outcome(.high), tenant: production),
                tenant: production
            ).refusal?.code == .sandboxOnly)
        #expect(
            service.perform(.advanceSandboxClock(.hours(1)), tenant: production).refusal?.code
                == .sandboxOnly)
    }

    @Test func theSandboxClockMovesDeadlines() throws {
        let service = try Service()
        service.authorize("acct-42")
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        #expect(service.perform(.advanceSandboxClock(.days(401))).now == Service.start + .days(401))
        let label = LabelCommand(
            labelID: "l", evaluation: .evaluationID(record.evaluationID.text),
            label: .confirmedFraud, category: nil, source: .partner, occurredAt: Service.start)
        #expect(service.perform(.label(label)).refusal?.code == .labelWindowClosed)
        try service.restart()
        #expect(service.perform(.label(label)).refusal?.code == .labelWindowClosed)
    }

    @Test func atomicLabelsAreAllOrNone() throws {
        let service = try Service()
        service.authorize("acct-42")
        service.perform(service.evaluation("r1"))
        func label(_ id: String, of request: String) -> LabelCommand {
            LabelCommand(
                labelID: id, evaluation: .requestID(request), label: .confirmedFraud, category: nil,
                source: .partner, occurredAt: Service.start)
        }
        let bad = service.perform(.labelAll([label("a", of: "r1"), label("b", of: "nobody")]))
        guard case .refusedAt(1, let refusal) = bad.content else {
            Issue.record("\(bad.content)")
            return
        }
        #expect(refusal.code == .notFound)
        guard case .label(_, .recorded) = service.perform(.label(label("a", of: "r1"))).content
        else {
            Issue.record("the first label of the refused batch was stored")
            return
        }
    }

    @Test func caseE32_everyEntryHasItsHashesAndTheTreeIsTheOneOfItsLeaves() throws {
        let service = try Service()
        service.authorize("acct-42")
        for index in 0..<20 { service.perform(service.evaluation("r\(index)")) }
        var frontier = MerkleFrontier()
        var payloads = 0
        try service.store.reader.scan(from: 1) { entry in
            #expect(entry.envelopeBytes == entry.envelope.bytes)
            #expect(entry.nodes == frontier.append(MerkleTree.leaf(entry.envelopeBytes)))
            #expect(entry.envelope.payload == SHA256.hash(entry.salt + entry.payload))
            let payload = try JSONReader.parse(entry.payload)
            #expect(payload.canonicalBytes == entry.payload, "\(entry.envelope.kind)")
            payloads += 1
            return true
        }
        #expect(payloads == 24)
        #expect(try service.store.tail().frontier == frontier)
    }

    @Test func aFileThatHeldTwoVersionsIsReadBackAfterARestart() throws {
        let service = try Service()
        let path = "retention.yaml"
        for version in [1, 2] {
            let source = """
                kind: trust
                name: retention
                version: \(version)
                categories: [other]
                description: Deleting what is kept.
                rule: {match: [{output: {friction: unchanged}}]}
                """
            let load = PolicyLoader().load([.init(path: path, bytes: Array(source.utf8))])
            let reply = service.administer(.loadPolicies(CandidateLoad(try #require(load.set))))
            #expect(reply.refusal == nil)
        }
        try service.restart()
        let references = service.engine.directory.catalog.all.map(\.reference)
        #expect(references.filter { $0.name == "retention" }.map(\.version) == [1, 2])
    }
}

/// A whole policy in shadow is judged and recorded beside the acting one, and never acts.
@Suite struct ShadowPolicyTests {
    @Test func aPolicyInShadowNeverActs() throws {
        let service = try Service()
        service.authorize("acct-42")
        let source = """
            kind: trust
            name: strict
            version: 1
            categories: [payment]
            attributes:
              amount: {type: double}
              other: {type: string, optional: true}
            rule:
              match:
                - id: all-of-it
                  condition: attributes.amount > 0.0
                  output: {friction: increased, steps: [manualReview], holdFor: 72h}
                - output: {friction: unchanged}
            """
        let load = PolicyLoader().load([.init(path: "strict.yaml", bytes: Array(source.utf8))])
        service.administer(.loadPolicies(CandidateLoad(try #require(load.set))))
        let before = try #require(
            service.perform(service.evaluation("r1", device: DeviceResult(value: 0.1))).evaluation)
        #expect(before.record.shadowPolicy == nil)
        service.administer(
            .activate(
                ActivateCommand(reference: "strict@1", isShadow: true, reason: "trial")))
        let record = try #require(
            service.perform(service.evaluation("r2", device: DeviceResult(value: 0.1))).evaluation
        ).record
        #expect(record.decision == before.record.decision)
        #expect(record.shadowPolicy?.policy.name == "strict")
        #expect(record.shadowPolicy?.decision.output.holdFor == .hours(72))
        // It is recorded, and survives a restart.
        try service.restart()
        let replayed = try #require(
            service.perform(service.evaluation("r2", device: DeviceResult(value: 0.1))).evaluation)
        #expect(replayed.record == record)
        // Naming the acting policy as shadow takes the shadow out.
        service.administer(
            .activate(
                ActivateCommand(
                    reference: "transcripts-payments@3", isShadow: true, reason: "enough")))
        let after = service.perform(service.evaluation("r3", device: DeviceResult(value: 0.1)))
        #expect(after.evaluation?.record.shadowPolicy == nil)
    }
}

/// Performance figures read from the ledger.
@Suite struct PerformanceReportTests {
    @Test func theLabelThatCountsTodayCounts() throws {
        let service = try Service()
        service.authorize("acct-42")
        for (index, value) in [0.97, 0.97, 0.97, 0.1].enumerated() {
            service.perform(service.evaluation("r\(index)", device: DeviceResult(value: value)))
        }
        func label(_ id: String, _ request: String, _ label: LabelValue, retracts: String? = nil) {
            service.perform(
                .label(
                    LabelCommand(
                        labelID: id, evaluation: .requestID(request), label: label, category: nil,
                        source: .partner, occurredAt: Service.start, retracts: retracts)))
        }
        label("a", "r0", .confirmedFraud)
        label("b", "r1", .confirmedFraud)
        label("c", "r1", .confirmedLegitimate)
        label("d", "r2", .confirmedFraud)
        label("e", "r2", .retracted, retracts: "d")
        label("f", "r3", .confirmedFraud)
        let report = try PerformanceReport(
            .init(tenant: Service.tenant), ledger: service.store.reader)
        #expect(report.versions.map(\.policy) == ["transcripts-payments@3"])
        let figures = try #require(report.versions.first).figures.figures(naming: [.high])
        #expect((figures.truePositives, figures.falsePositives) == (1, 1))
        #expect((figures.falseNegatives, figures.named) == (1, 3))
        var other = PerformanceReport.Query(tenant: Service.tenant)
        other.category = .account
        #expect(try PerformanceReport(other, ledger: service.store.reader).versions.isEmpty)
    }
}

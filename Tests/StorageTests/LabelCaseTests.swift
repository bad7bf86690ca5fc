import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// The cases about reports and labels.
@Suite struct LabelCaseTests {
    private static let tick = Duration.milliseconds(1)

    private func service(_ change: (inout Configuration) -> Void = { _ in }) throws -> Service {
        var configuration = Configuration()
        change(&configuration)
        let service = try Service(configuration: configuration)
        service.authorize("acct-42")
        return service
    }

    private func label(
        _ id: String, of address: EvaluationAddress = .requestID("r1"),
        _ value: LabelValue = .confirmedFraud, at: Instant = Service.start, retracts: String? = nil
    ) -> Command {
        .label(
            LabelCommand(
                labelID: id, evaluation: address, label: value, category: nil,
                source: .customerReport, occurredAt: at, retracts: retracts))
    }

    private func status(_ reply: Reply) -> Reply.LabelStatus? {
        if case .label(_, let status) = reply.content { status } else { nil }
    }

    private func shown(_ service: Service, _ id: String = "r1") throws -> EvaluationState {
        guard case .shown(let state) = service.perform(.show(.requestID(id))).content else {
            throw Missing()
        }
        return state
    }

    private struct Missing: Error {}

    private func entries(_ service: Service) throws -> Int64 {
        try service.store.tail().nextSequence - 1
    }

    @Test func caseT3_labelsAreTakenUntilTheirDeadline() throws {
        for (age, code) in [
            (Duration.days(30), nil), (.days(30) + Self.tick, Refusal.Code.labelWindowClosed),
            (.days(31), .labelWindowClosed),
        ] {
            let service = try service { $0.labelWindow = .days(30) }
            let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
            #expect(record.labelDeadline == Service.start + .days(30))
            service.clock.advance(age)
            let refusal = service.perform(label("l")).refusal
            #expect(refusal?.code == code)
            if code != nil {
                #expect(
                    refusal?.members["labelDeadline"] == .string(record.labelDeadline.rfc3339))
                #expect(try shown(service).labels.isEmpty)
            }
        }
    }

    @Test func caseT3_theSameEvaluationAgainCountsNothing() throws {
        let service = try service()
        for _ in 0..<3 { service.perform(service.evaluation("r1")) }
        let next = try #require(service.perform(service.evaluation("r2")).evaluation)
        #expect(next.record.velocity[0] == .count(1))
    }

    @Test(arguments: [
        EvaluationAddress.requestID("nobody"), .evaluationID("nobody"), .insightID(""),
        .evaluationID("01a22c53-9588-7a0c-8000-000000000001"),
        .evaluationID("01a22c53-9588-7a0c-8000-00000000ffff"),
        .insightID("01a22c53-9588-7a0c-8001-000000000001"),
    ])
    func caseT4_whatDoesNotExistIsTerminal(address: EvaluationAddress) throws {
        let service = try service()
        service.perform(service.evaluation("r1"))
        let before = try entries(service)
        let commands = [
            label("l", of: address), .show(address),
            .reportConsumption(ReportCommand(evaluation: address, status: .usedEvaluationOnly)),
        ]
        for command in commands {
            let refusal = service.perform(command).refusal
            #expect(refusal?.code == .notFound)
            #expect(refusal?.isRetryable == false)
            #expect(refusal?.field?.isEmpty == false)
        }
        #expect(try entries(service) == before)
    }

    @Test func caseT4_anIdOfAnotherPartOfTheEntryIsNone() throws {
        let service = try service()
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        let id = record.evaluationID
        // Its own id and its one insight's, with any other ordinal or chance it is nobody's.
        for (other, isKnown) in [(id, true), (id.part(1), true), (id.part(2), false)] {
            let refusal = service.perform(.show(.insightID(other.text))).refusal
            #expect((refusal == nil) == isKnown, "\(other.text)")
        }
        let forged = Identifier(
            at: record.receivedAt, sequence: id.sequence, ordinal: 0, chance: 0x123)
        if forged != id {
            #expect(service.perform(.show(.evaluationID(forged.text))).refusal?.code == .notFound)
        }
    }

    @Test func caseT5_theAnswerSaysWhatTheLabelDid() throws {
        let service = try service()
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        service.clock.advance(.hours(1))
        let now = service.clock.now
        guard case .label(let first, .recorded) = service.perform(label("a")).content else {
            Issue.record("not recorded")
            return
        }
        #expect(first.labelID == "a")
        #expect(first.evaluationID == record.evaluationID)
        #expect(first.receivedAt == now)
        #expect(status(service.perform(label("a"))) == .replayed)
        // Found earlier: it is recorded, and the label that counts stays.
        #expect(status(service.perform(label("b", at: Service.start - Self.tick))) == .recorded)
        // Found later: from now on it counts.
        #expect(
            status(service.perform(label("c", .confirmedLegitimate, at: Service.start + Self.tick)))
                == .superseding)
        #expect(try shown(service).labels.current?.labelID == "c")
    }

    private func label(_ id: String, _ value: LabelValue, at: Instant) -> Command {
        label(id, of: .requestID("r1"), value, at: at)
    }

    @Test func caseT8_aLateReportIsLate() throws {
        for (age, state) in [
            (Duration.hours(1), ConsumptionState.reported),
            (.hours(1) + Self.tick, .reportedLate), (.hours(1) + .seconds(1), .reportedLate),
        ] {
            let service = try service()
            service.perform(service.evaluation("r1"))
            service.clock.advance(age)
            let before = try shown(service).consumptionState(at: service.clock.now)
            #expect(before == (state == .reported ? .due : .missing))
            let report = ReportCommand(
                evaluation: .requestID("r1"), status: .usedIncreasedFriction)
            #expect(service.perform(.reportConsumption(report)).debt == 0)
            #expect(try shown(service).consumptionState(at: service.clock.now) == state)
            service.clock.advance(.days(60))
            try service.restart()
            #expect(try shown(service).consumptionState(at: service.clock.now) == state)
        }
    }

    @Test func caseT10_oneBadLabelLosesNoGoodOne() throws {
        let stage = try Stage()
        try Story.short().tell(on: stage)
        let before = try stage.entries().count
        let labels = (0..<5).map {
            stage.label("t10-\($0)", of: $0 == 4 ? "no-such" : "r1")
        }
        func submission(_ command: Command) -> Submission {
            Submission(tenant: Stage.sandbox, actor: "key", command: command)
        }
        // All or none: none, and the index that is at fault.
        let atomic = stage.perform([submission(.labelAll(labels))])
        guard case .refusedAt(4, let refusal)? = atomic.first?.content else {
            Issue.record("\(atomic)")
            return
        }
        #expect(refusal.code == .notFound)
        #expect(try stage.entries().count == before)
        // One by one: four are stored, and what is stored is what was answered.
        let replies = stage.perform(labels.map { submission(.label($0)) })
        #expect(replies.map { $0.refusal == nil } == [true, true, true, true, false])
        #expect(try stage.entries().count == before + 4)
        guard
            case .shown(let state)? = stage.perform([submission(.show(.requestID("r1")))])
                .first?.content
        else {
            Issue.record("not shown")
            return
        }
        #expect(state.labels.filter { $0.labelID.hasPrefix("t10-") }.count == 4)
    }

    @Test func caseT13_aLabelIsKnownByItsIdAlsoAfterARestart() throws {
        let service = try service()
        service.perform(service.evaluation("r1"))
        service.perform(service.evaluation("r2"))
        service.perform(label("l"))
        try service.restart()
        let before = try entries(service)
        #expect(status(service.perform(label("l"))) == .replayed)
        // Another wording under the same id is another label: refused, whatever differs.
        for other in [
            label("l", of: .requestID("r2")), label("l", of: .requestID("r1"), .suspectedFraud),
            label("l", at: Service.start - Self.tick),
        ] { #expect(service.perform(other).refusal?.code == .labelIDReused) }
        #expect(try entries(service) == before)
        #expect(try shown(service).labels.count == 1)
    }

    @Test func caseT15_aRetractionAtTheSameInstantCounts() throws {
        let service = try service()
        service.perform(service.evaluation("r1"))
        #expect(status(service.perform(label("a"))) == .recorded)
        #expect(
            status(service.perform(label("b", of: .requestID("r1"), .retracted, retracts: "a")))
                == .superseding)
        for _ in 0..<2 {
            #expect(try shown(service).labels.map(\.labelID) == ["a", "b"])
            #expect(try shown(service).labels.current == nil)
            try service.restart()
        }
        // Only what the evaluation has can be taken out.
        service.perform(service.evaluation("r2"))
        let refusal = service.perform(
            label("c", of: .requestID("r2"), .retracted, retracts: "a")
        ).refusal
        #expect(refusal?.field == "/retracts")
    }

    @Test func caseT22_labelsOfAnotherEnvironmentAreRefused() throws {
        let service = try service()
        let production = Tenant(app: "transcripts", environment: .production)
        service.perform(
            .authorize(
                AuthorizeCommand(
                    subject: service.pseudonymizer.subject("acct-42", of: production),
                    category: .payment, status: .authorized)), tenant: production)
        let device = DeviceResult(value: 0.9, generatedAt: service.clock.now, requestID: "live")
        let live = try #require(
            service.perform(
                service.evaluation("live", device: device, tenant: production), tenant: production
            ).evaluation
        ).record
        let before = try entries(service)
        #expect(
            service.perform(label("l", of: .evaluationID(live.evaluationID.text))).refusal?.code
                == .environmentMismatch)
        // By requestID it is a name in another space: unknown.
        #expect(
            service.perform(label("l", of: .requestID("live"))).refusal?.code == .notFound)
        #expect(try entries(service) == before)
    }

    @Test func labelsOfTheFutureAreSkewedBeyondFiveMinutes() throws {
        let service = try service()
        service.perform(service.evaluation("r1"))
        let limit = Service.start + .minutes(5)
        #expect(service.perform(label("a", at: limit + Self.tick)).refusal?.code == .clockSkew)
        #expect(status(service.perform(label("a", at: limit))) == .recorded)
    }
}

import Engine
import JSON
import Ledger
import Policies
import ReviewPrompts
import Storage
import Testing
import Time
import TrustInsights

/// What callers may pile up has a limit, and reaching it is told.
@Suite struct BoundsTests {
    private static func subject(_ id: String, _ service: Service) -> Pseudonym {
        service.pseudonymizer.subject(id, of: Service.tenant)
    }

    @Test func aChainOfMergesHasAnEnd() throws {
        let service = try Service()
        let limit = ReviewPromptLimits.absorbedInstalls
        for index in 0..<limit {
            let reply = service.perform(
                .review(
                    .merge(
                        install: Self.subject("c\(index)", service),
                        account: Self.subject("c\(index + 1)", service))))
            #expect(reply.refusal == nil, "merge \(index)")
        }
        let beyond = service.perform(
            .review(
                .merge(
                    install: Self.subject("c\(limit)", service),
                    account: Self.subject("c\(limit + 1)", service))))
        #expect(beyond.refusal?.code == .invalidValue)
        // The first install still leads to the last account, also after a restart.
        try service.restart()
        let again = service.perform(
            .review(
                .merge(
                    install: Self.subject("c0", service), account: Self.subject("other", service))))
        #expect(again.refusal?.field == "/install")
        #expect(
            service.perform(.review(.reset(subject: Self.subject("c0", service)))).refusal == nil)
    }

    @Test func aReturnedGrantStaysReturnedHoweverManyFollow() throws {
        let service = try Service()
        func donate(_ key: String) -> Reply {
            service.perform(
                .review(
                    .donate(
                        DonateCommand(
                            idempotencyKey: key,
                            action: service.pseudonymizer.action(
                                Array(key.utf8), tenant: Service.tenant),
                            donation: ReviewStatusCommand(
                                reason: "exportedVideo", subject: Self.subject("p", service),
                                device: service.pseudonymizer.device("d", of: Service.tenant),
                                version: "1.0", distribution: .appStore, zone: "UTC",
                                occurredAt: nil,
                                installedAt: Service.start - .days(30),
                                attributes: ["minutes": 9])))))
        }
        var ids: [String] = []
        for index in 0..<30 {
            guard case .review(.donated(let record, _, _)) = donate("k\(index)").content,
                let grant = record.grant
            else {
                Issue.record("donation \(index) was not granted")
                return
            }
            ids.append(grant.id)
            let back = service.perform(
                .review(.reportOutcome(grantID: grant.id, .notRequested(reason: "busy"))))
            #expect(back.refusal == nil)
        }
        for index in [0, 5, 20, 29] {
            guard case .review(.donated(_, let state, true)) = donate("k\(index)").content else {
                Issue.record("no replay of \(index)")
                return
            }
            #expect(state == .notRequested, "grant \(index)")
        }
        // Another reason for what was returned long ago is another report.
        let other = service.perform(
            .review(.reportOutcome(grantID: ids[0], .notRequested(reason: "other"))))
        #expect(other.refusal?.code == .alreadyReported)
        // A late request always counts, on each of them.
        for id in ids.prefix(2) {
            let late = service.perform(.review(.reportOutcome(grantID: id, .requested)))
            guard case .review(.outcome(let grant, .requested, false)) = late.content else {
                Issue.record("\(late.content)")
                return
            }
            #expect(grant.isLate)
        }
        guard case .review(.donated(let record, _, false)) = donate("after").content else {
            Issue.record("the last donation was not taken")
            return
        }
        let apple = record.verdicts.arrayValue?.first { $0["rule"] == "apple" }
        #expect(apple?["have"] == 2)
    }

    @Test func labelsOfAnEvaluationHaveALimit() throws {
        let service = try Service()
        service.authorize("acct-42")
        service.perform(service.evaluation("r1"))
        func label(_ index: Int) -> Reply {
            service.perform(
                .label(
                    LabelCommand(
                        labelID: "l\(index)", evaluation: .requestID("r1"), label: .suspectedFraud,
                        category: nil, source: .partner, occurredAt: Service.start)))
        }
        for index in 0..<TrustLimits.labels { #expect(label(index).refusal == nil) }
        #expect(label(TrustLimits.labels).refusal?.code == .tooManyLabels)
        // What is known is still a replay.
        guard case .label(_, .replayed) = label(0).content else {
            Issue.record("a known label was refused")
            return
        }
    }

    @Test func textsOfCallersAreTheSameByteForByteOnly() throws {
        let service = try Service()
        service.authorize("acct-42")
        let record = try #require(service.perform(service.evaluation("r1")).evaluation).record
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        func label(_ id: String, _ value: LabelValue, retracts: String? = nil) -> Reply {
            service.perform(
                .label(
                    LabelCommand(
                        labelID: id, evaluation: .requestID("r1"), label: value, category: nil,
                        source: .partner, occurredAt: Service.start, retracts: retracts)))
        }
        #expect(label(composed, .confirmedFraud).refusal == nil)
        #expect(label(decomposed, .suspectedFraud).refusal == nil)
        #expect(label("r", .retracted, retracts: decomposed).refusal == nil)
        let shown = service.perform(.show(.evaluationID(record.evaluationID.text)))
        guard case .shown(let state) = shown.content else {
            Issue.record("\(shown.content)")
            return
        }
        #expect(state.labels.current?.label == .confirmedFraud)
        // Likewise in windows: values that only look the same are told apart.
        #expect(
            RecordedValue.value(.string(composed)) != RecordedValue.value(.string(decomposed)))
        #expect(throws: Never.self) {
            try JSONReader.parse(Array("{\"\(composed)\":1,\"\(decomposed)\":2}".utf8))
        }
    }

    @Test func aClockThatWasAheadIsTold() throws {
        let service = try Service()
        service.authorize("acct-42")
        #expect(service.engine.clockAhead <= .zero)
        service.clock.advance(.days(1500))
        service.perform(service.evaluation("r1"))
        service.clock.advance(-.days(1500))
        try service.restart()
        #expect(service.engine.clockAhead == .days(1500))
    }

    @Test func aMissingEntryIsNoticedAtTheStart() throws {
        let service = try Service()
        service.authorize("acct-42")
        for index in 0..<3 { service.perform(service.evaluation("r\(index)")) }
        let error = #expect(throws: CorruptEntry.self) {
            try Engine(store: Gap(store: service.store), zones: .utc)
        }
        #expect(error?.sequence == 3)
    }

    /// The real store, of which one entry is gone.
    private struct Gap: Store {
        let store: SQLiteStore

        func tail() throws -> LedgerTail { try store.tail() }
        func append(_ entry: LedgerEntry, keys: [EntityKey]) throws {}
        func commit() throws {}
        func probe() throws {}
        func rollback() {}
        func entry(_ sequence: Int64) throws -> LedgerEntry? {
            try store.reader.entry(sequence)
        }
        func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry] {
            try store.reader.entries(under: key).filter { $0.envelope.sequence > sequence }
        }
        func firstSequence(notBefore instant: Instant) throws -> Int64 { 1 }
        func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {}
        func sequences(under key: EntityKey) throws -> [Int64] { [] }
        func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {}
        func clearErased() -> Bool { true }
        func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {}
        func keep(_ snapshot: LedgerSnapshot) {}
        func snapshot() throws -> (through: Int64, bytes: [UInt8])? { nil }
        func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
            try store.reader.scan(from: sequence) { entry in
                try entry.envelope.sequence == 3 || body(entry)
            }
        }
    }
}

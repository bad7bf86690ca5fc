import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// What acted against what ran in shadow, read from the ledger beside a running engine.
@Suite struct ShadowComparisonTests {
    /// Each of its own person, so that windows hold nothing.
    private static func judge(
        _ service: Service, _ id: String, amount: Double, device: Double = 0.1
    ) {
        service.authorize(id)
        let reply = service.perform(
            service.evaluation(
                id, subject: id, amount: amount, device: DeviceResult(value: device)))
        #expect(reply.evaluation != nil, "\(reply.content)")
    }

    private static func label(_ service: Service, _ id: String, _ value: LabelValue) {
        service.perform(
            .label(
                LabelCommand(
                    labelID: "l-\(id)", evaluation: .requestID(id), label: value, category: nil,
                    source: .partner, occurredAt: Service.start)))
    }

    private static func recorded() throws -> Service {
        let service = try Service()
        for (version, limit) in [(4, 500), (5, 500_000)] {
            let load = try Stage.load(
                ["models/coached-scorecard.yaml"], [try Stage.payments(version, limit: limit)])
            service.administer(.loadPolicies(load))
        }
        func shadow(_ version: Int) {
            service.administer(
                .activate(
                    ActivateCommand(
                        reference: "transcripts-payments@\(version)", isShadow: true, reason: "t")))
        }
        Self.judge(service, "before", amount: 900)
        shadow(4)
        for id in ["a", "b", "c"] { Self.judge(service, id, amount: 900) }
        Self.judge(service, "small", amount: 100)
        Self.judge(service, "coached", amount: 900, device: 0.97)
        service.clock.advance(.hours(1))
        shadow(5)
        Self.judge(service, "large", amount: 3000)
        Self.label(service, "a", .confirmedFraud)
        Self.label(service, "b", .confirmedLegitimate)
        Self.label(service, "small", .confirmedLegitimate)
        Self.label(service, "large", .suspectedFraud)
        return service
    }

    private static func compare(
        _ service: Service, _ policy: String? = nil,
        _ change: (inout Backtest.Options) -> Void = { _ in }
    ) throws -> [ShadowReport] {
        var options = Backtest.Options(tenant: Service.tenant)
        change(&options)
        let comparison = ShadowComparison(of: policy, options)
        var reader = RecordedEvaluationReader(readsShadows: true)
        let before = try service.store.tail().nextSequence
        try LedgerFile(folder: service.folder.path).evaluationsAndLabels(of: Service.tenant) {
            sequence, isLabel, payload in
            if isLabel {
                let record = try RecordReader(payload, sequence: sequence)
                comparison.take(try LabelRecord(payload: record), sequence: sequence)
            } else {
                comparison.take(
                    try JSONReader.withCursor(payload) {
                        try reader.read($0, sequence: sequence)
                    })
            }
        }
        let after = try service.store.tail().nextSequence
        #expect(after == before)
        return comparison.finish()
    }

    private static func row(
        _ letThrough: Int64, _ newlyHeld: Int64, _ newlyLetThrough: Int64, _ held: Int64
    ) -> BacktestReport.Row {
        var row = BacktestReport.Row()
        row.letThrough = letThrough
        row.newlyHeld = newlyHeld
        row.newlyLetThrough = newlyLetThrough
        row.held = held
        return row
    }

    @Test func caseT29_whatTheShadowWouldHaveDone() throws {
        let reports = try Self.compare(try Self.recorded())
        #expect(
            reports.map(\.source.policy.text) == [4, 5, 3].map { "transcripts-payments@\($0)" })
        #expect(reports.map(\.source.isWhole) == [true, true, false])
        let strict = reports[0]
        #expect(strict.evaluations == 5)
        #expect(strict.actingPolicies == ["transcripts-payments@3": 5])
        #expect(
            strict.table == [
                .init(acting: .unchanged, shadow: .increased): 3,
                .init(acting: .unchanged, shadow: .unchanged): 1,
                .init(acting: .increased, shadow: .increased): 1,
            ])
        #expect(
            strict.rows == [
                .fraud: Self.row(0, 1, 0, 0), .legitimate: Self.row(1, 1, 0, 0),
                .unlabelled: Self.row(0, 1, 0, 1),
            ])
        #expect(strict.rows.total.newlyHeldRate == Proportion(3, of: 4))
        #expect(strict.examples.keys.allSatisfy { $0.isHeld })
        #expect(strict.examples.values.reduce(0) { $0 + $1.count } == 3)
        let lax = reports[1]
        #expect(lax.rows == [.suspected: Self.row(0, 0, 1, 0)])
        #expect(lax.otherOutput == 1)
        // The acting policy has a rule in shadow, which never matched.
        #expect(reports[2].evaluations == 7)
        #expect(reports[2].otherOutput == 0)
    }

    @Test func onlyWhatIsAskedFor() throws {
        let service = try Self.recorded()
        #expect(try Self.compare(service, "transcripts-payments@5").count == 1)
        #expect(try Self.compare(service, "transcripts-payments").count == 3)
        #expect(try Self.compare(service, "nobody").isEmpty)
        let late = try Self.compare(service) { $0.since = Service.start + .minutes(30) }
        #expect(late.map(\.evaluations) == [1, 1])
        let early = try Self.compare(service, "transcripts-payments@4") {
            $0.until = Service.start
            $0.examples = 1
        }
        #expect(early.first?.evaluations == 5)
        #expect(early.first?.examples.values.allSatisfy { $0.count == 1 } == true)
        let young = try Self.compare(service, "transcripts-payments@4") { $0.mature = .days(1) }
        #expect(young.first?.rows.keys.map(\.self) == [.tooYoung])
    }
}

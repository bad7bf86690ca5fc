import Engine
import Foundation
import Ledger
import Policies
import ReviewPrompts
import Testing
import Time

/// The same histories told twice, once with retries and questions in between: each retry is given
/// the stored answer, and the two ledgers are the same, byte for byte.
@Suite struct ReviewRetryTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// A 100th of the histories that the pure core is told, and each is of many people.
    private static let histories = max(
        6, (environment["DISCERN_HISTORIES"].flatMap(UInt64.init) ?? 0) / 100)
    private static let seed = environment["DISCERN_HISTORY_SEED"].flatMap(UInt64.init) ?? 1
    private static let steps = 60

    private struct Step {
        var pause: Duration
        var key: String
        var command: (Stage) -> Command
        /// Retries of earlier donations, and questions, that are to change nothing.
        var idle: [(Stage) -> Command]
    }

    private static func steps(_ random: inout SeededGenerator) -> [Step] {
        var donations: [(key: String, command: (Stage) -> Command)] = []
        return (0..<steps).map { number in
            let person = random.pick(["anna", "bert", "carl"])
            let device = random.pick(["phone", "tablet"])
            let version = random.pick(["1.0", "1.1", "1.1.0", "2.0", "?"])
            let reason = random.pick([
                "finishedTranscript", "finishedTranscript", "exportedVideo", "activeDay",
                "transcriptionFailed",
            ])
            let key = "d\(number)"
            let earlier = donations.isEmpty ? "" : random.pick(donations).key
            let outcome: ReviewOutcome = random.pick([
                .requested, .notRequested(reason: "userPostponed"),
                .notRequested(reason: "noScene"),
            ])
            let command: (Stage) -> Command
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<13:
                command = {
                    $0.donate(key, reason, person, device: device, version: version, minutes: 8)
                }
                donations.append((key, command))
            case 13..<18:
                command = {
                    .review(.reportOutcome(grantID: $0.grants[earlier] ?? "none", outcome))
                }
            case 18: command = { .review(.reset(subject: $0.subject(person))) }
            default:
                let other = random.pick(["anna", "bert", "carl"])
                command = {
                    .review(.merge(install: $0.subject(person), account: $0.subject(other)))
                }
            }
            var idle: [(Stage) -> Command] = [
                { .review(.status($0.donation(reason, person, device: device, version: version))) }
            ]
            if !donations.isEmpty { idle.append(random.pick(donations).command) }
            let pause = random.pick([
                Duration.zero, .milliseconds(1), .minutes(5), .minutes(11), .hours(9), .days(3),
                .days(30),
            ])
            return Step(pause: pause, key: key, command: command, idle: idle)
        }
    }

    private static func told(_ steps: [Step], idling: Bool, seed: UInt64) throws -> Stage {
        let stage = try Stage()
        let load = try Stage.load(["models/coached-scorecard.yaml", "transcripts-review.yaml"])
        _ = stage.perform([
            Submission(
                tenant: nil, actor: "o", command: .administer(.loadPolicies(load)),
                salt: Story.salt(0, 0))
        ])
        var answers: [String: DonationRecord] = [:]
        for (number, step) in steps.enumerated() {
            stage.clock.advance(step.pause)
            let reply = stage.perform([submission(step.command(stage), number)])
            stage.remember(reply)
            if case .review(.donated(let record, _, false))? = reply.first?.content {
                answers[record.idempotencyKey] = record
            }
            guard idling else { continue }
            for command in step.idle {
                let reply = stage.perform([submission(command(stage), number)])
                switch reply.first?.content {
                case .review(.donated(let record, let state, let isReplay)):
                    #expect(isReplay, "seed \(seed)")
                    #expect(record == answers[record.idempotencyKey], "seed \(seed)")
                    #expect((state == nil) == (record.grant == nil))
                case .review(.status), .refused: break
                default: Issue.record("seed \(seed): \(String(describing: reply.first?.content))")
                }
            }
        }
        return stage
    }

    private static func submission(_ command: Command, _ number: Int) -> Submission {
        Submission(
            tenant: Stage.sandbox, actor: "k", command: command, salt: Story.salt(1, number))
    }

    /// A prompt that was shown counts, whatever acts by then.
    @Test func caseR28_aReportIsTakenWithoutAPolicy() throws {
        let stage = try Stage()
        let load = try Stage.load(["models/coached-scorecard.yaml", "transcripts-review.yaml"])
        func administer(_ command: AdministrationCommand) -> Reply? {
            stage.perform([Submission(tenant: nil, actor: "o", command: .administer(command))])
                .first
        }
        #expect(administer(.loadPolicies(load))?.refusal == nil)
        let export = stage.donate("d1", "exportedVideo", minutes: 9)
        stage.remember(stage.perform([Self.submission(export, 1)]))
        let grant = try #require(stage.grants["d1"])
        let off = AdministrationCommand.deactivate(
            policy: "transcripts-review", isShadow: false, reason: "too many")
        #expect(administer(off)?.refusal == nil)
        let next = stage.perform([Self.submission(stage.donate("d2", "exportedVideo"), 2)])
        #expect(next.first?.refusal?.code == .contextInvalid)
        #expect(next.first?.refusal?.reason == "noPolicy")
        let report = Command.review(.reportOutcome(grantID: grant, .requested))
        for isReplay in [false, true] {
            let reply = stage.perform([Self.submission(report, 3)]).first
            guard case .review(.outcome(_, .requested, isReplay))? = reply?.content else {
                Issue.record("\(String(describing: reply?.content))")
                return
            }
        }
        // The retry of a donation is told how its grant stands.
        let retry = stage.perform([Self.submission(export, 1)]).first
        guard case .review(.donated(_, .requested?, isReplay: true))? = retry?.content else {
            Issue.record("\(String(describing: retry?.content))")
            return
        }
    }

    @Test func retriesAndQuestionsChangeNothing() throws {
        print("retried histories: seeds \(Self.seed) to \(Self.seed + Self.histories - 1)")
        var grants = 0
        for seed in Self.seed..<Self.seed + Self.histories {
            var random = SeededGenerator(seed: seed)
            let steps = Self.steps(&random)
            let plain = try Self.told(steps, idling: false, seed: seed)
            let retried = try Self.told(steps, idling: true, seed: seed)
            let (entries, again) = (try plain.entries(), try retried.entries())
            try #require(entries.count > steps.count / 2, "seed \(seed)")
            try #require(entries.map(\.payload) == again.map(\.payload), "seed \(seed)")
            try #require(entries.map(\.envelopeBytes) == again.map(\.envelopeBytes), "seed \(seed)")
            grants += plain.grants.count
        }
        #expect(grants > Int(Self.histories))
    }
}

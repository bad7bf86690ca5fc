import Engine
import Ledger
import Policies
import ReviewPrompts
import Storage
import Testing
import Time
import TrustInsights

/// A small generator with a seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func pick<T>(_ values: [T]) -> T {
        values[Int.random(in: values.indices, using: &self)]
    }
}

/// Random stories: however they are told, with restarts, with somebody who looks all the time,
/// or replayed from what was recorded, they leave the same ledger.
@Suite struct RandomStoryTests {
    static let people = ["anna", "bert", "carl"]
    static let requests = (0..<25).map { "r\($0)" }

    /// Policies in several versions.
    static func loads() throws -> [CandidateLoad] {
        let model = "models/coached-scorecard.yaml"
        return try [
            Stage.load(["transcripts-payments.yaml", "transcripts-review.yaml", model]),
            Stage.load([model], [Stage.payments(4, limit: 100)]),
            Stage.load([model, "transcripts-account.yaml"], [Stage.payments(3)], activates: true),
            Stage.load([model], [Stage.payments(5, limit: 9)], activates: true),
        ]
    }

    private static func story(_ seed: UInt64, erasing: Bool = false) throws -> Story {
        var random = SeededGenerator(seed: seed)
        var story = Story()
        let loads = try loads()
        story.then("start") { stage in
            var configuration = Configuration()
            configuration.debt.minimum = 2
            return [
                (nil, .administer(.configure(configuration, zones: "none"))),
                (nil, .administer(.loadPolicies(loads[0]))),
            ]
                + people.map { (Stage.sandbox, stage.authorize($0, .authorized, Stage.sandbox)) }
        }
        for _ in 0..<45 {
            let pause: Duration = random.pick([
                .zero, .milliseconds(1), .seconds(30), .minutes(20), .hours(1), .hours(9), .days(3),
            ])
            let makers = (0..<Int.random(in: 1...4, using: &random)).map {
                _ -> (Stage) -> (Tenant?, Command) in
                if erasing, Int.random(in: 0..<12, using: &random) == 0 {
                    let person = random.pick(people)
                    return { (Stage.sandbox, $0.erase(person)) }
                }
                return command(&random, loads)
            }
            story.then("random", after: pause) { stage in makers.map { $0(stage) } }
        }
        return story
    }

    /// A random command, as a stage gives it.
    static func command(_ random: inout SeededGenerator, _ loads: [CandidateLoad])
        -> (Stage) -> (Tenant?, Command)
    {
        let person = random.pick(people)
        let other = random.pick(people)
        let request = random.pick(requests)
        let device = random.pick(["phone", "tablet"])
        let version = random.pick(["1.0", "1.1", "2.0"])
        let key = "d\(Int.random(in: 0..<40, using: &random))"
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<8:
            let amount = random.pick([0.1, 0.2, 5, 900, 2001])
            let value = random.pick([0.05, 0.5, 0.97])
            return {
                (Stage.sandbox, $0.evaluate(request, person, amount: amount, device: value))
            }
        case 8..<12:
            let status = random.pick(ConsumptionStatus.allCases)
            return { (Stage.sandbox, $0.report(request, status)) }
        case 12..<14:
            let value = random.pick(LabelValue.allCases)
            let retracts = value == .retracted ? "l\(Int.random(in: 0..<9, using: &random))" : nil
            let id = "l\(Int.random(in: 0..<20, using: &random))"
            return { (Stage.sandbox, .label($0.label(id, of: request, value, retracts: retracts))) }
        case 14:
            let status = random.pick(AuthorizationStatus.allCases)
            return { (Stage.sandbox, $0.authorize(person, status, Stage.sandbox)) }
        case 15:
            let span: Duration = random.pick([.hours(1), .days(1), .days(11), .days(31)])
            return { _ in (Stage.sandbox, .advanceSandboxClock(span)) }
        case 16..<20:
            let reason = random.pick(["finishedTranscript", "exportedVideo", "transcriptionFailed"])
            return {
                (
                    Stage.sandbox,
                    $0.donate(key, reason, person, device: device, version: version, minutes: 8)
                )
            }
        case 20:
            let outcome: ReviewOutcome = random.pick([
                .requested, .notRequested(reason: "userPostponed"),
            ])
            return {
                (Stage.sandbox, .review(.reportOutcome(grantID: $0.grants[key] ?? "", outcome)))
            }
        case 21:
            return Bool.random(using: &random)
                ? { (Stage.sandbox, .review(.reset(subject: $0.subject(person)))) }
                : {
                    (
                        Stage.sandbox,
                        .review(.merge(install: $0.subject(person), account: $0.subject(other)))
                    )
                }
        case 22:
            var configuration = Configuration()
            configuration.debt.minimum = random.pick([1, 2, 5, 50])
            configuration.reportWithin = random.pick([.zero, .minutes(1), .hours(1), .days(2)])
            configuration.debt.period = random.pick([.days(2), .days(30)])
            configuration.debt.warnOnly = random.pick([false, false, true])
            configuration.evaluationsPerDay = random.pick([nil, 3, 1000])
            let numbers = configuration
            return { _ in (nil, .administer(.configure(numbers, zones: "none"))) }
        default:
            let load = random.pick(loads)
            return { _ in (nil, .administer(.loadPolicies(load))) }
        }
    }

    /// Asks for something, which must change nothing.
    private static func look(_ stage: Stage, _ random: inout SeededGenerator) {
        let commands: [Command] = [
            .listDebt(after: 0, limit: 3), .show(.requestID(random.pick(requests))),
            .review(
                .status(
                    stage.donation(
                        "exportedVideo", random.pick(people), device: "phone", version: "9.0"))),
        ]
        _ = stage.perform([
            Submission(tenant: Stage.sandbox, actor: "looking", command: random.pick(commands))
        ])
    }

    /// With erasures, restarts with and without what was kept of the registry and the index.
    @Test(arguments: 100..<116) func erasuresFoldAsTheyHappened(_ seed: UInt64) throws {
        let story = try Self.story(seed, erasing: true)
        let plain = try Stage()
        try story.tell(on: plain)
        let expected = try plain.entries()
        #expect(expected.contains { $0.envelope.kind == RecordKind.erasure.rawValue })
        var random = SeededGenerator(seed: seed &+ 1000)
        let restarted = try Stage(generation: 7)
        try story.tell(on: restarted, oneByOne: true) { _ in
            guard Int.random(in: 0..<3, using: &random) == 0 else { return }
            let drops = ["state.snapshot", "index"].filter { _ in Bool.random(using: &random) }
            try restarted.restart { for name in drops { try restarted.folder.remove(name) } }
        }
        if let difference = ReplayTests.differences(expected, try restarted.entries()) {
            Issue.record("seed \(seed), restarted: \(difference)")
            return
        }
        let answers = Self.answers(plain)
        #expect(answers == Self.answers(restarted), "seed \(seed)")
        try plain.restart { try plain.folder.remove("state.snapshot") }
        #expect(answers == Self.answers(plain), "seed \(seed)")
    }

    /// What can be asked without anything being recorded.
    private static func answers(_ stage: Stage) -> [String] {
        var commands: [Command] = [.listDebt(after: 0, limit: 100)]
        for request in requests { commands.append(.show(.requestID(request))) }
        for person in people {
            for device in ["phone", "tablet"] {
                commands.append(
                    .review(
                        .status(
                            stage.donation("exportedVideo", person, device: device, version: "9.0"))
                    ))
            }
        }
        return commands.map { command in
            let reply = stage.perform([
                Submission(tenant: Stage.sandbox, actor: "asking", command: command)
            ])
            return reply.map { "\($0.debt) \($0.now) \($0.content)" }.joined()
        }
    }

    @Test(arguments: 0..<16) func theLedgerIsTheSameHoweverItIsTold(_ seed: UInt64) throws {
        let story = try Self.story(seed)
        let plain = try Stage()
        try story.tell(on: plain)
        let expected = try plain.entries()
        #expect(expected.count > 30, "seed \(seed): too little happened")

        // With restarts, one command at a time, and somebody who looks in between.
        var random = SeededGenerator(seed: seed &+ 1000)
        let watched = try Stage(generation: 7)
        for index in story.beats.indices {
            let part = Int64.random(
                in: 0...max(0, story.beats[index].pause.milliseconds), using: &random)
            watched.clock.advance(.milliseconds(part))
            Self.look(watched, &random)
            if Int.random(in: 0..<4, using: &random) == 0 { try watched.restart() }
            watched.clock.advance(story.beats[index].pause - .milliseconds(part))
            for submission in try story.submissions(index, on: watched) {
                watched.remember(watched.perform([submission]))
                if Int.random(in: 0..<8, using: &random) == 0 { Self.look(watched, &random) }
            }
        }
        if let difference = ReplayTests.differences(expected, try watched.entries()) {
            Issue.record("seed \(seed), watched and restarted: \(difference)")
            return
        }

        // Replayed from what was recorded.
        let replayed = try Stage()
        var replay = Replay(zones: .utc)
        for entry in expected {
            guard case .command(let submission, let at) = try replay.step(entry) else { continue }
            replayed.clock.advance(at - replayed.clock.now)
            _ = replayed.perform([submission])
        }
        if let difference = ReplayTests.differences(expected, try replayed.entries()) {
            Issue.record("seed \(seed), replayed: \(difference)")
        }
    }
}

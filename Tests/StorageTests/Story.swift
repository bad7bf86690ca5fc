import Engine
import Ledger
import Policies
import ReviewPrompts
import Testing
import Time
import TrustInsights

/// A story with everything that can happen: all kinds of entries, several apps and environments,
/// refusals that are recorded and those that are not, a clock that is moved, policies that are
/// edited in place.
struct Story {
    struct Beat {
        let name: String
        /// How much time passes before it.
        let pause: Duration
        /// The commands of one batch, with whose data they are about.
        let commands: (Stage) throws -> [(Tenant?, Command)]
    }

    private(set) var beats: [Beat] = []

    mutating func then(
        _ name: String, after pause: Duration = .seconds(1),
        _ commands: @escaping (Stage) throws -> [(Tenant?, Command)]
    ) { beats.append(Beat(name: name, pause: pause, commands: commands)) }

    private mutating func inSandbox(
        _ name: String, after pause: Duration = .seconds(1),
        _ commands: @escaping (Stage) throws -> [Command]
    ) { then(name, after: pause) { stage in try commands(stage).map { (Stage.sandbox, $0) } } }

    private mutating func operate(
        _ name: String, after pause: Duration = .seconds(1),
        _ commands: @escaping (Stage) throws -> [AdministrationCommand]
    ) {
        then(name, after: pause) { stage in try commands(stage).map { (nil, .administer($0)) } }
    }

    /// The salt of a command at a place of a story.
    static func salt(_ beat: Int, _ index: Int) -> [UInt8] {
        SHA256.hash("beat \(beat) command \(index)").withBytes { Array($0.prefix(16)) }
    }

    /// The commands of a beat, as they are handed in.
    func submissions(_ index: Int, on stage: Stage) throws -> [Submission] {
        try beats[index].commands(stage).enumerated().map { place, command in
            Submission(
                tenant: command.0, actor: command.0 == nil ? "operator" : "key-\(place % 2)",
                command: command.1, salt: Self.salt(index, place))
        }
    }

    /// Tells the whole story; after each beat, `between` may do something.
    func tell(
        on stage: Stage, oneByOne: Bool = false, between: (Int) throws -> Void = { _ in }
    ) throws {
        for index in beats.indices {
            stage.clock.advance(beats[index].pause)
            let submissions = try submissions(index, on: stage)
            if oneByOne {
                for submission in submissions { stage.remember(stage.perform([submission])) }
            } else {
                stage.remember(stage.perform(submissions))
            }
            try between(index)
        }
    }

    /// The whole of it; `erasing`, people are erased before the policies change.
    static func whole(erasing: Bool = false) throws -> Story {
        var story = Story()
        try story.openingDay()
        story.trust()
        story.debt()
        story.reviews()
        if erasing { story.erasures() }
        try story.policiesChange()
        return story
    }

    /// A short one, of every kind of effect once; `erasing`, with an erasure too.
    static func short(erasing: Bool = false) throws -> Story {
        var story = Story()
        try story.openingDay()
        story.inSandbox("a payment and what came of it") {
            [
                $0.authorize("anna", .authorized, Stage.sandbox), $0.evaluate("r1"),
                $0.evaluate("r2", amount: 0.1), $0.report("r1"), .label($0.label("l1", of: "r1")),
            ]
        }
        story.inSandbox("an atomic batch") {
            [
                .labelAll([
                    $0.label("l2", of: "r2"), $0.label("l3", of: "r1", .retracted, retracts: "l1"),
                ])
            ]
        }
        story.inSandbox("time moves") { _ in [.advanceSandboxClock(.hours(2))] }
        story.inSandbox("donations") {
            [
                $0.donate("d1", "finishedTranscript"),
                $0.donate("d2", "exportedVideo", minutes: 9),
            ]
        }
        story.inSandbox("asked") {
            [.review(.reportOutcome(grantID: $0.grants["d2"] ?? "none", .requested))]
        }
        try story.policiesAreEdited()
        story.inSandbox("judged by the new one") { [$0.evaluate("r3"), $0.report("r2")] }
        if erasing {
            story.inSandbox("erased") { [$0.erase("anna"), $0.evaluate("r4"), $0.erase("anna")] }
        }
        return story
    }

    // MARK: Chapters

    private mutating func openingDay() throws {
        let load = try Stage.load([
            "transcripts-payments.yaml", "transcripts-review.yaml", "models/coached-scorecard.yaml",
        ])
        operate("apps and numbers") { _ in
            var configuration = Configuration()
            configuration.debt.minimum = 3
            return [
                .registerApp(id: "transcripts", name: "Transcripts"),
                .registerApp(id: "other", name: "Øther \"app\""),
                .configure(configuration, zones: "none"), .loadPolicies(load),
            ]
        }
        operate("keys") { _ in
            [
                .issueKey(
                    .known(
                        secret: "one", keyID: "key-1", tenant: Stage.sandbox,
                        scopes: [.report, .evaluate])),
                .issueKey(.known(secret: "two", keyID: "key-2", tenant: nil, scopes: [.admin])),
                // Refused, and so not recorded.
                .issueKey(.known(secret: "two", keyID: "key-2", tenant: nil, scopes: [.admin])),
                .revokeKey(id: "key-1"),
                .acceptFork(
                    LedgerForkRecord(
                        reason: "restored the backup of Monday",
                        expected: .init(size: 90, root: MerkleTree.leaf([1])),
                        found: .init(size: 80, root: MerkleTree.leaf([2])))),
            ]
        }
    }

    private mutating func trust() {
        then("authorizations") { stage in
            Stage.tenants.map { ($0, stage.authorize("anna", .authorized, $0)) } + [
                (Stage.sandbox, stage.authorize("bert", .denied, Stage.sandbox)),
                (Stage.sandbox, stage.authorize("carl", .authorized, Stage.sandbox)),
            ]
        }
        inSandbox("evaluations") { stage in
            [
                stage.evaluate("r1"), stage.evaluate("r2", amount: 0.1, payee: nil),
                stage.evaluate("r3", amount: 2.5, device: 0.5),
                // Refused by the person, and recorded; the same again counts once.
                stage.evaluate("refused", "bert"), stage.evaluate("refused", "bert"),
                stage.evaluate("nobody", "dora"),
                // A replay, another action, a device result that is missing.
                stage.evaluate("r1"), stage.evaluate("r1", amount: 901),
                stage.evaluate("bad", device: nil),
            ]
        }
        inSandbox("forced and asked for more") { stage in
            [
                stage.evaluate("f1", "carl", force: .outcome(.medium)),
                stage.evaluate("f2", "carl", force: .insightError(.insightUnavailable)),
                stage.evaluate("f3", "carl", force: .evaluationError(.denied)),
                stage.evaluate("f4", "carl", force: .evaluationError(.serverError)),
                stage.evaluate(
                    "i1", "carl",
                    insights: [
                        InsightRequest(), InsightRequest(modelVersion: "1"),
                        InsightRequest(modelVersion: "99"), InsightRequest(schema: 2),
                    ]),
            ]
        }
        then("other apps and environments") { stage in
            [
                (Stage.production, stage.evaluate("r1", "anna", Stage.production)),
                (Stage.other, stage.evaluate("r1", "anna", Stage.other)),
                (
                    Stage.production,
                    stage.evaluate("f", "anna", Stage.production, force: .outcome(.high))
                ),
                (Stage.other, .label(stage.label("l1", of: "r2"))),
            ]
        }
        inSandbox("reports") { stage in
            [
                stage.report("r1"), stage.report("r1"), stage.report("r1", .notUsedError),
                stage.report("r2", .usedReducedFriction), stage.report("refused"),
                .reportConsumption(
                    ReportCommand(
                        evaluation: .evaluationID(
                            stage.evaluations["i1"]?.evaluationID.text ?? "none"),
                        status: .usedEvaluationOnly,
                        insightsUsed: stage.evaluations["i1"].map { [$0.insightID(1).text] })),
            ]
        }
        inSandbox("labels") { stage in
            [
                .label(stage.label("l1", of: "r1")), .label(stage.label("l1", of: "r1")),
                .label(stage.label("l2", of: "r1", .suspectedFraud)),
                .label(stage.label("l3", of: "r1", .retracted, retracts: "l2")),
                .label(stage.label("l4", of: "r1", .retracted, retracts: "unknown")),
                .labelAll([
                    stage.label("m1", of: "r2"), stage.label("m2", of: "r2", .confirmedLegitimate),
                    stage.label("m3", of: "r2", .retracted, retracts: "m1"),
                    stage.label("m1", of: "r2"),
                ]),
                .labelAll([stage.label("n1", of: "r2"), stage.label("n2", of: "no-such")]),
            ]
        }
    }

    private mutating func debt() {
        inSandbox("two hours on") { _ in [.advanceSandboxClock(.hours(2))] }
        inSandbox("too much is owed", after: .minutes(1)) { stage in
            [
                stage.evaluate("d1", device: 0.2), stage.report("r3"), stage.report("f1"),
                stage.report("f2"),
            ]
        }
        inSandbox("switched off") { stage in
            [
                stage.authorize("anna", .denied, Stage.sandbox),
                .advanceSandboxClock(.milliseconds(1)),
                stage.authorize("anna", .deniedRequestable, Stage.sandbox),
            ]
        }
        operate("other numbers") { _ in
            var configuration = Configuration()
            configuration.reportWithin = .minutes(10)
            configuration.authorizationCoolDown = .hours(2)
            configuration.evaluationsPerDay = 50
            return [
                .configure(configuration, zones: "none"), .configure(configuration, zones: "none"),
            ]
        }
        inSandbox("the next day", after: .hours(25)) { stage in
            [
                stage.evaluate("off", device: 0.2),
                stage.authorize("anna", .authorized, Stage.sandbox),
            ]
        }
    }

    private mutating func reviews() {
        inSandbox("donations") { stage in
            [
                stage.donate("a1", "finishedTranscript"), stage.donate("a1", "finishedTranscript"),
                stage.donate("a2", "finishedTranscript"), stage.donate("a3", "finishedTranscript"),
                stage.donate("a4", "exportedVideo", minutes: 9),
                stage.donate("a5", "unknown"),
            ]
        }
        inSandbox("asked", after: .minutes(1)) { stage in
            [
                .review(.reportOutcome(grantID: stage.grants["a3"] ?? "none", .requested)),
                .review(.reportOutcome(grantID: stage.grants["a3"] ?? "none", .requested)),
                .review(
                    .status(
                        stage.donation("exportedVideo", "anna", device: "phone", version: "1.1"))),
            ]
        }
        inSandbox("another person", after: .hours(1)) { stage in
            [
                stage.donate("b1", "exportedVideo", "bert", device: "tablet", minutes: 7),
                stage.donate("b2", "transcriptionFailed", "carl", device: "desk"),
                stage.donate("b3", "exportedVideo", "carl", device: "desk", minutes: 7),
            ]
        }
        inSandbox("not now", after: .minutes(2)) { stage in
            [
                .review(
                    .reportOutcome(
                        grantID: stage.grants["b1"] ?? "none",
                        .notRequested(reason: "userPostponed"))),
                .review(.reset(subject: stage.subject("carl"))),
                .review(.merge(install: stage.subject("install"), account: stage.subject("anna"))),
                .review(.merge(install: stage.subject("install"), account: stage.subject("anna"))),
                .review(.merge(install: stage.subject("bert"), account: stage.subject("carl"))),
            ]
        }
        inSandbox("through an alias", after: .days(20)) { stage in
            [
                stage.donate("c1", "finishedTranscript", "install", device: "new", version: "2.0"),
                stage.donate(
                    "c2", "exportedVideo", "bert", device: "tablet", version: "2.0", minutes: 8),
                .review(.reset(subject: stage.subject("install"))),
            ]
        }
        // A lease that ended unreported.
        inSandbox("silence", after: .days(30)) { stage in
            [
                stage.donate(
                    "c3", "exportedVideo", "bert", device: "tablet", version: "3.0", minutes: 8)
            ]
        }
    }

    /// Of carl's account bert is an alias.
    private mutating func erasures() {
        then("two are erased") { stage in
            [
                (Stage.sandbox, stage.erase("bert")), (Stage.sandbox, stage.erase("carl")),
                (Stage.production, stage.erase("anna", Stage.production)),
                (Stage.sandbox, stage.erase("nobody")),
                (Stage.sandbox, stage.authorize("carl", .authorized, Stage.sandbox)),
                (Stage.sandbox, stage.evaluate("again", "carl")),
            ]
        }
    }

    private mutating func policiesAreEdited() throws {
        let edited = try Stage.load(
            ["transcripts-review.yaml", "models/coached-scorecard.yaml"],
            [try Stage.payments(4, limit: 100)], activates: true)
        operate("edited in place") { _ in [.loadPolicies(edited)] }
    }

    private mutating func policiesChange() throws {
        let model = "models/coached-scorecard.yaml"
        let candidate = try Stage.load([model], [try Stage.payments(4, limit: 100)])
        let changed = try Stage.load([model], [try Stage.payments(4, limit: 1)])
        operate("a bad load, then a candidate") { _ in
            [
                .loadPolicies(CandidateLoad(files: [], faults: ["p.yaml:1:1: error: none [x]"])),
                .loadPolicies(candidate),
                .loadPolicies(candidate),
                // The same version with other content.
                .loadPolicies(changed), .loadPolicies(candidate),
            ]
        }
        inSandbox("still judged by the old one") { [$0.evaluate("p1", device: 0.2)] }
        try policiesAreEdited()
        inSandbox("judged by the new one") { [$0.evaluate("p2", device: 0.2), $0.report("p1")] }
        let back = try Stage.load(
            [model, "transcripts-account.yaml", "transcripts-review.yaml"],
            [try Stage.payments(3)], activates: true)
        let mixed = try Stage.load(
            [
                model, "transcripts-account.yaml", "transcripts-review.yaml",
                "transcripts-cloud.yaml",
            ],
            [try Stage.payments(3), try Stage.payments(2, path: "old/payments.yaml")],
            activates: true)
        operate("back, and others beside") { _ in
            [.loadPolicies(back), .loadPolicies(mixed), .loadPolicies(mixed)]
        }
        inSandbox("judged by the old one again") { [$0.evaluate("p3", device: 0.2)] }
        then("activations") { _ in
            [
                (
                    nil,
                    .administer(
                        .activate(
                            ActivateCommand(
                                reference: "transcripts-payments@4", isShadow: true,
                                reason: "trial")))
                ),
                (
                    Stage.other,
                    .administer(
                        .activate(
                            ActivateCommand(
                                reference: "transcripts-payments@2", reason: "only \"here\"\n",
                                allow: [.untested, .noShadow])))
                ),
                (
                    nil,
                    .administer(.activate(ActivateCommand(reference: "nobody@1", reason: "")))
                ),
            ]
        }
        then("with a shadow beside") { stage in
            [
                (Stage.sandbox, stage.evaluate("p4", device: 0.2)),
                (Stage.other, stage.evaluate("p1", "anna", Stage.other, device: 0.2)),
                (Stage.production, stage.evaluate("p1", "anna", Stage.production, device: 0.2)),
            ]
        }
        let review = try Stage.load([], [try Stage.review(2, atLeast: 9)])
        operate("another review policy") { _ in [.loadPolicies(review)] }
        then("in shadow, too") { stage in
            [
                (
                    nil,
                    .administer(
                        .activate(
                            ActivateCommand(
                                reference: "transcripts-review@2", isShadow: true, reason: "?")))
                ), (Stage.sandbox, stage.donate("s1", "finishedTranscript", "shadowed")),
                (Stage.sandbox, stage.donate("s2", "exportedVideo", "shadowed", minutes: 7)),
                (Stage.sandbox, stage.donate("s1", "finishedTranscript", "shadowed")),
            ]
        }
        then("less of it") { _ in
            let activate = { (reference: String, isShadow: Bool, allow: [PolicyGuard]) in
                Command.administer(
                    .activate(
                        ActivateCommand(
                            reference: reference, isShadow: isShadow, reason: "a try",
                            allow: allow,
                            tests: TestEvidence(
                                passed: 3, failed: 1, firstFailure: "a_test.yaml:7 s / t",
                                digest: "d", rules: .init(2, of: 3), branches: .init(1, of: 1)))))
            }
            let deactivate = { (policy: String, isShadow: Bool) in
                Command.administer(
                    .deactivate(policy: policy, isShadow: isShadow, reason: "enough"))
            }
            let rollBack = Command.administer(
                .rollBack(policy: "transcripts-payments", reason: "too strict"))
            return [
                // Refused by its guards, and then let act in spite of them.
                (nil, activate("transcripts-payments@4", false, [.failingTests])),
                (nil, activate("transcripts-payments@4", false, PolicyGuard.allCases)),
                (nil, rollBack), (nil, rollBack), (nil, rollBack), (nil, rollBack),
                (Stage.other, rollBack), (Stage.other, rollBack),
                (nil, activate("transcripts-payments@4", true, [])),
                (nil, deactivate("transcripts-payments@4", true)),
                (Stage.other, activate("transcripts-payments@4", false, PolicyGuard.allCases)),
                (Stage.other, deactivate("transcripts-payments", false)),
                (Stage.other, deactivate("transcripts-payments", false)),
                (nil, deactivate("transcripts-review", false)),
            ]
        }
    }
}

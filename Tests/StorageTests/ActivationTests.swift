import Engine
import JSON
import Ledger
import Policies
import Storage
import Testing
import Time
import TrustInsights

/// What acts changes by command only, with guards, and back.
@Suite struct ActivationTests {
    /// A service with three more versions of the payments policy as candidates.
    private static func service() throws -> Service {
        let service = try Service()
        service.authorize("acct-42")
        for version in 4...6 {
            let load = try Stage.load(
                ["models/coached-scorecard.yaml"], [try Stage.payments(version)])
            guard
                case .administered(.loaded(let added, activated: [])) = service.administer(
                    .loadPolicies(load)
                ).content
            else {
                Issue.record("not loaded")
                continue
            }
            #expect(added == ["transcripts-payments@\(version)"])
        }
        return service
    }

    private static func evidence(
        failed: Int64 = 0, rules: Int64 = 10, branches: Int64 = 8
    ) -> TestEvidence {
        TestEvidence(
            passed: 5 - failed, failed: failed, digest: "d", rules: .init(rules, of: 10),
            branches: .init(branches, of: 10))
    }

    private static func activate(
        _ version: Int, isShadow: Bool = false, allow: [PolicyGuard] = PolicyGuard.allCases,
        tests: TestEvidence? = nil
    ) -> AdministrationCommand {
        .activate(
            ActivateCommand(
                reference: "transcripts-payments@\(version)", isShadow: isShadow,
                reason: "to \(version)", allow: allow, tests: tests))
    }

    private static let rollBack = AdministrationCommand.rollBack(
        policy: "transcripts-payments", reason: "too strict")

    private func acting(_ service: Service) -> Int64? {
        service.engine.directory.acting(for: Service.tenant, category: .payment)?.reference.version
    }

    // MARK: Guards

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var tests: TestEvidence?
        var hasJudged = true
        var allow: [PolicyGuard] = []
        /// What refuses; empty where it acts.
        var refused: [PolicyGuard] = []
        var overridden: [PolicyGuard] = []

        var testDescription: String { name }
    }

    private static let cases: [Case] = [
        Case(name: "all is well", tests: evidence()),
        Case(name: "no tests", refused: [.untested]),
        Case(
            name: "tests without a test",
            tests: TestEvidence(
                passed: 0, failed: 0, digest: "", rules: .init(0, of: 0), branches: .init(0, of: 0)),
            refused: [.untested]),
        Case(name: "a failing test", tests: evidence(failed: 1), refused: [.failingTests]),
        Case(name: "a rule that never matched", tests: evidence(rules: 9), refused: [.coverage]),
        Case(name: "too few branches", tests: evidence(branches: 7), refused: [.coverage]),
        Case(name: "never in shadow", tests: evidence(), hasJudged: false, refused: [.noShadow]),
        Case(
            name: "everything at once", tests: evidence(failed: 5, rules: 0), hasJudged: false,
            refused: [.failingTests, .coverage, .noShadow]),
        Case(
            name: "one of two allowed", tests: evidence(failed: 1), hasJudged: false,
            allow: [.noShadow], refused: [.failingTests]),
        Case(
            name: "another one allowed", tests: evidence(failed: 1), allow: [.coverage, .untested],
            refused: [.failingTests]),
        Case(
            name: "both allowed", tests: evidence(failed: 1), hasJudged: false,
            allow: [.noShadow, .failingTests, .coverage], overridden: [.failingTests, .noShadow]),
        Case(name: "untested allowed", allow: [.untested], overridden: [.untested]),
    ]

    @Test(arguments: cases)
    func anUntriedPolicyActsOnlyIfItsGuardsAreNamed(given: Case) throws {
        let service = try Self.service()
        if given.hasJudged {
            service.administer(Self.activate(4, isShadow: true, allow: []))
            service.perform(service.evaluation("r1"))
        }
        let before = try service.store.tail().nextSequence
        let reply = service.administer(Self.activate(4, allow: given.allow, tests: given.tests))
        if given.refused.isEmpty {
            guard case .administered(.activated(let record)) = reply.content else {
                Issue.record("\(reply.content)")
                return
            }
            #expect(record.check?.overridden == given.overridden)
            #expect(record.check?.judged == (given.hasJudged ? 1 : 0))
            #expect(acting(service) == 4)
            let entry = try #require(try service.store.reader.entry(before))
            #expect(try entry.record(ActivationRecord.self) == record)
        } else {
            let refusal = try #require(reply.refusal)
            #expect(refusal.code == .policyGuarded)
            #expect(refusal.allowed == given.refused.map { .string($0.rawValue) })
            #expect(
                refusal.members["guards"]?.arrayValue?.map { $0["guard"]?.stringValue }
                    == given.refused.map(\.rawValue))
            #expect(acting(service) == 3)
            #expect(try service.store.tail().nextSequence == before, "nothing was recorded")
        }
    }

    @Test func theRefusalTellsTheFigures() throws {
        let service = try Self.service()
        var tests = Self.evidence(failed: 2, rules: 9, branches: 7)
        tests.firstFailure = "a_test.yaml:7 section / name"
        let refusal = try #require(
            service.administer(Self.activate(4, allow: [], tests: tests)).refusal)
        for part in [
            "2 of 5 tests fail", "a_test.yaml:7", "9 of 10 rules, needed are 100 %",
            "7 of 10 branches, needed are 80 %", "judged 0 recorded events", "allow it by name",
        ] {
            #expect(refusal.detail.contains(part), "\(refusal.detail)")
        }
    }

    @Test func thresholdsAreConfiguration() throws {
        let service = try Self.service()
        var configuration = Configuration()
        configuration.guards.ruleCoverage = 0.5
        configuration.guards.branchCoverage = 0
        configuration.guards.shadowEvaluations = 0
        service.administer(.configure(configuration, zones: "z"))
        let reply = service.administer(
            Self.activate(4, allow: [], tests: Self.evidence(rules: 5, branches: 0)))
        #expect(reply.refusal == nil)
        #expect(acting(service) == 4)
    }

    /// Each app's own traffic counts for it, and what a sandbox key forced for nobody.
    @Test func trafficOfOthersIsNoTrial() throws {
        let service = try Self.service()
        service.administer(Self.activate(4, isShadow: true, allow: []))
        service.perform(
            service.evaluation("r1", force: .outcome(.high)))
        let command = Self.activate(4, allow: [], tests: Self.evidence())
        #expect(service.administer(command).refusal?.code == .policyGuarded)
        service.perform(service.evaluation("r2"))
        let elsewhere = service.engine.perform(
            Submission(
                tenant: Tenant(app: "elsewhere", environment: .production), actor: "o",
                command: .administer(command)))
        #expect(elsewhere.refusal?.code == .policyGuarded)
        try service.restart()
        #expect(service.administer(command).refusal == nil)
    }

    // MARK: Back

    @Test func rollingBackGoesTheWayBack() throws {
        let service = try Self.service()
        for version in [4, 5, 5, 6] {
            #expect(service.administer(Self.activate(version)).refusal == nil)
        }
        for expected: Int64 in [5, 4, 3] {
            try service.restart()
            guard
                case .administered(.rolledBack(let record)) = service.administer(Self.rollBack)
                    .content
            else {
                Issue.record("not rolled back to \(expected)")
                return
            }
            #expect(record.changes.map(\.to?.version) == [expected])
            #expect(acting(service) == expected)
        }
        #expect(service.administer(Self.rollBack).refusal?.code == .notFound)
        #expect(acting(service) == 3)
        // And forward again.
        service.administer(Self.activate(6))
        service.administer(Self.rollBack)
        #expect(acting(service) == 3)
    }

    @Test func anAppsOwnPolicyCanBeTakenAway() throws {
        let service = try Self.service()
        func own(_ command: AdministrationCommand) -> Reply {
            service.engine.perform(
                Submission(
                    tenant: Service.tenant, actor: "key-1", command: .administer(command)))
        }
        #expect(own(Self.rollBack).refusal?.code == .notFound)
        #expect(own(Self.activate(4)).refusal == nil)
        #expect(acting(service) == 4)
        #expect(own(Self.rollBack).refusal == nil)
        #expect(acting(service) == 3, "the common one again")
        _ = own(Self.activate(4))
        _ = own(Self.activate(5))
        let wrong = AdministrationCommand.deactivate(
            policy: "transcripts-payments@4", isShadow: false, reason: "mistaken")
        #expect(own(wrong).refusal?.allowed == ["transcripts-payments@5"])
        let unexplained = AdministrationCommand.deactivate(
            policy: "transcripts-payments", isShadow: false, reason: " \t")
        #expect(own(unexplained).refusal?.code == .missingField)
        let away = AdministrationCommand.deactivate(
            policy: "transcripts-payments", isShadow: false, reason: "enough")
        #expect(own(away).refusal == nil)
        #expect(acting(service) == 3)
        #expect(own(away).refusal?.code == .notFound)
        service.administer(Self.activate(6))
        #expect(acting(service) == 6, "it follows the common one")
        try service.restart()
        #expect(acting(service) == 6)
    }

    @Test func aShadowIsTakenOut() throws {
        let service = try Self.service()
        service.administer(Self.activate(4, isShadow: true, allow: []))
        let out = AdministrationCommand.deactivate(
            policy: "transcripts-payments", isShadow: true, reason: "seen enough")
        #expect(service.administer(out).refusal == nil)
        let record = service.perform(service.evaluation("r1")).evaluation?.record
        #expect(record != nil && record?.shadowPolicy == nil)
        #expect(acting(service) == 3)
    }

    /// Not even a restart lets the folder's policies act again by themselves.
    @Test func whatWasTakenAwayStaysAway() throws {
        let service = try Self.service()
        for name in ["transcripts-payments"] {
            service.administer(.deactivate(policy: name, isShadow: false, reason: "off"))
        }
        service.administer(.loadPolicies(try Service.shipped()))
        #expect(acting(service) == nil)
        let refused = service.perform(service.evaluation("r1")).refusal
        #expect(refused?.reason == "noPolicy")
    }

    // MARK: History

    @Test func caseE34_everyChangeHasAnActor() throws {
        let service = try Self.service()
        for actor in ["", "key-7"] {
            _ = service.engine.perform(
                Submission(
                    tenant: nil, actor: actor, command: .administer(Self.activate(4))))
        }
        service.administer(Self.rollBack)
        for _ in 0..<2 {
            let history = service.engine.directory.registry.history
            #expect(history.suffix(3).map(\.actor) == ["unknown", "key-7", "operator"])
            #expect(history.suffix(3).map(\.kind) == [.activated, .activated, .rolledBack])
            #expect(history.last?.reason == "too strict")
            #expect(history.last?.replacement?.version == 3)
            let fact = try #require(
                service.engine.directory.registry.activations.first { $0.category == .payment })
            #expect(fact.actor == "operator")
            #expect(fact.sequence == history.last?.sequence)
            try service.restart()
        }
    }
}

/// A review policy in shadow.
@Suite struct ReviewShadowTests {
    private static let donations: [(key: String, reason: String, minutes: Int64?)] = [
        ("d1", "finishedTranscript", nil), ("d2", "exportedVideo", 1), ("d3", "exportedVideo", 9),
        ("d4", "finishedTranscript", nil), ("d5", "finishedTranscript", nil),
    ]

    /// The same donations with and without a shadow beside.
    private static func records(shadow: Int?) throws -> [DonationRecord] {
        try entries(of: told(shadow: shadow)).map { try $0.record(DonationRecord.self) }
    }

    private static func entries(of stage: Stage) throws -> [LedgerEntry] {
        try stage.entries().filter { $0.envelope.kind == "donation" }
    }

    private static func told(shadow: Int?) throws -> Stage {
        let stage = try Stage()
        let model = "models/coached-scorecard.yaml"
        let loads = [
            try Stage.load([model, "transcripts-review.yaml"]),
            try Stage.load([model], [try Stage.review(2, atLeast: 1)]),
        ]
        for load in loads {
            _ = stage.perform([
                Submission(tenant: nil, actor: "o", command: .administer(.loadPolicies(load)))
            ])
        }
        if let shadow {
            let command = ActivateCommand(
                reference: "transcripts-review@\(shadow)", isShadow: true, reason: "trial")
            let reply = stage.perform([
                Submission(tenant: nil, actor: "o", command: .administer(.activate(command)))
            ])
            #expect(reply.first?.refusal == nil)
        }
        for donation in donations {
            stage.clock.advance(.seconds(10))
            let command = stage.donate(donation.key, donation.reason, minutes: donation.minutes)
            _ = stage.perform([
                Submission(
                    tenant: Stage.sandbox, actor: "k", command: command,
                    salt: Story.salt(1, donation.key.count))
            ])
        }
        return stage
    }

    /// The comparison counts what the records say.
    @Test func theComparisonCountsAsksAndHolds() throws {
        let stage = try Self.told(shadow: 2)
        let records = try Self.entries(of: stage).map { try $0.record(DonationRecord.self) }
        func compare(_ policy: String?, examples: Int) throws -> [ReviewShadowReport] {
            var options = Backtest.Options(tenant: Stage.sandbox)
            options.examples = examples
            let comparison = ShadowComparison(of: policy, options)
            try LedgerFile(folder: stage.folder.path).donations(of: Stage.sandbox) {
                sequence, payload in
                let donation = try JSONReader.withCursor(payload) {
                    try RecordedDonation($0, sequence: sequence)
                }
                if let donation { comparison.take(donation) }
            }
            return comparison.finishReviews()
        }
        func count(_ asked: Bool, _ wouldAsk: Bool) -> Int64 {
            Int64(
                records.count {
                    ($0.grant != nil) == asked && $0.shadowPolicy?.wouldAsk == wouldAsk
                })
        }
        let report = try #require(try compare(nil, examples: 1).first)
        #expect(report.policy.text == "transcripts-review@2")
        #expect(report.donations == 5 && report.refused == 0)
        #expect(report.asked == count(true, true) && report.newlyHeld == count(true, false))
        #expect(report.newlyAsked == count(false, true) && report.held == count(false, false))
        #expect(report.newlyAsked > 0 && report.held > 0)
        #expect(report.examples.count { $0.isAsked } == 1)
        #expect(try compare("transcripts-review@2", examples: 0).first?.examples.isEmpty == true)
        #expect(try compare("transcripts-review@1", examples: 0).isEmpty)
    }

    /// A reason that only the acting policy knows.
    @Test func whatTheShadowDoesNotKnowIsToldAndHoldsNothingUp() throws {
        let stage = try Stage()
        let model = "models/coached-scorecard.yaml"
        var other = try Stage.review(2, atLeast: 1)
        other.text = other.text.replacing(#/ +activeDay: .*\n/#, with: "")
        let loads = [
            try Stage.load([model, "transcripts-review.yaml"]), try Stage.load([model], [other]),
        ]
        let commands =
            loads.map { AdministrationCommand.loadPolicies($0) } + [
                .activate(
                    ActivateCommand(
                        reference: "transcripts-review@2", isShadow: true, reason: "trial"))
            ]
        for command in commands {
            _ = stage.perform([
                Submission(tenant: nil, actor: "o", command: .administer(command))
            ])
        }
        let reply = stage.perform([
            Submission(tenant: Stage.sandbox, actor: "k", command: stage.donate("d", "activeDay"))
        ])
        #expect(reply.first?.refusal == nil)
        let record = try #require(try Self.entries(of: stage).first).record(DonationRecord.self)
        #expect(record.isCounted)
        #expect(record.shadowPolicy?.refused != nil && record.shadowPolicy?.wouldAsk == false)
    }

    @Test func caseT29_aReviewPolicyInShadowNeverActs() throws {
        let plain = try Self.records(shadow: nil)
        let shadowed = try Self.records(shadow: 2)
        #expect(plain.count == Self.donations.count)
        #expect(plain.map { $0.grant == nil } == shadowed.map { $0.grant == nil })
        #expect(plain.map(\.isCounted) == shadowed.map(\.isCounted))
        #expect(plain.map(\.verdicts) == shadowed.map(\.verdicts))
        #expect(plain.contains { $0.grant != nil })
        #expect(shadowed.allSatisfy { $0.shadowPolicy?.policy.version == 2 })
        #expect(shadowed.allSatisfy { $0.shadowPolicy?.refused == nil })
        // It would have asked at the first transcript; the acting one asks later, if at all.
        #expect(shadowed[0].shadowPolicy?.wouldAsk == true)
        #expect(shadowed[0].grant == nil)
    }
}

import Engine
import JSON
import Policies
import Storage
import Time
import TrustInsights

/// A store as it looks after a year in use: many people, each judged now and then over ninety days,
/// all reports made. It is recorded for the app that `serve --dev` makes, about the subjects that
/// the load driver names, so that a server can go on from it.
final class History {
    private static let tenant = Tenant(app: "dev", environment: .sandbox)
    private static let days: Int64 = 90
    /// Commands that are handed in at once.
    private static let batch = 1_000

    private let subjects: Int
    private let pseudonymizer: Pseudonymizer
    private let store: RareCommits
    private let engine: Engine
    private let time = GeneratorClock()
    private let end = Engine.wallClock()
    private var chance: Chance

    init(folder: String, subjects: Int, policies: PolicySet, chance: Chance) throws {
        self.subjects = subjects
        self.chance = chance
        let data = try DataFolder(path: folder)
        pseudonymizer = Pseudonymizer(key: data.pseudonymKey)
        store = RareCommits(try SQLiteStore(folder: data))
        let time = time
        time.now = end - .days(Self.days)
        engine = try Engine(store: store, zones: .utc, clock: { time.now })
        for command in [
            AdministrationCommand.registerApp(id: Self.tenant.app, name: "Development"),
            .configure(Configuration(), zones: "none"),
            .loadPolicies(CandidateLoad(policies, activates: true)),
        ] {
            try perform([Submission(tenant: nil, actor: "generator", command: .administer(command))]
            )
        }
    }

    func record(_ count: Int, progress: (Int) -> Void) throws {
        for start in stride(from: 0, to: subjects, by: Self.batch) {
            try perform(
                (start..<min(start + Self.batch, subjects)).map { number in
                    .authorize(
                        AuthorizeCommand(
                            subject: subject(number), category: .payment, status: .authorized))
                })
        }
        let step = Double(Self.days * 86_400_000) / Double(max(count, 1))
        for start in stride(from: 0, to: count, by: Self.batch) {
            time.now = end - .days(Self.days) + .milliseconds(Int64(Double(start) * step))
            let numbers = start..<min(start + Self.batch, count)
            let judged = try perform(try numbers.map(evaluation)).compactMap { reply in
                if case .evaluation(let judged, _, _) = reply.content { judged.record } else { nil }
            }
            try perform(
                judged.map {
                    .reportConsumption(
                        ReportCommand(
                            evaluation: .evaluationID($0.evaluationID.text),
                            status: .usedUnchangedFriction, insightsUsed: nil))
                })
            progress(numbers.upperBound)
        }
    }

    func finish() throws {
        engine.stop()
        try store.finish()
    }

    private func subject(_ number: Int) -> Pseudonym {
        pseudonymizer.subject("acct-\(number)", of: Self.tenant)
    }

    private func evaluation(_ number: Int) throws -> Command {
        guard let acting = engine.directory.acting(for: Self.tenant, category: .payment) else {
            throw Recording.Failure(description: "no policy acts for payments")
        }
        let attributes: JSONObject = [
            "amount": .double((chance.skewed(median: 35, spread: 0.8) * 100).rounded() / 100),
            "currency": "EUR", "newPayee": .bool(chance.happens(0.1)),
            "payee": .string("payee \(Int(chance.unit() * 1_000))"),
        ]
        let requestID = "history-\(number)"
        return .evaluate(
            EvaluateCommand(
                tenant: Self.tenant, requestID: requestID,
                subject: subject(Int(chance.unit() * Double(subjects))),
                action: pseudonymizer.action(Array(requestID.utf8), tenant: Self.tenant),
                category: .payment,
                attributes: .success(
                    try acting.readAttributes(
                        attributes, at: "", pseudonymizer: pseudonymizer, tenant: Self.tenant)),
                policyDigest: acting.reference.digest,
                device: DeviceResult(value: chance.unit(), generatedAt: time.now)))
    }

    @discardableResult
    private func perform(_ commands: [Command]) throws -> [Reply] {
        try perform(
            commands.map { Submission(tenant: Self.tenant, actor: "generator", command: $0) })
    }

    @discardableResult
    private func perform(_ submissions: [Submission]) throws -> [Reply] {
        let answers = Guarded<[Reply]>([])
        let wasTaken = engine.submitAll(submissions) { _, reply in
            answers.signal { $0.append(reply) }
        }
        guard wasTaken,
            let replies = answers.wait(for: { $0.count == submissions.count ? $0 : nil })
        else { throw Recording.Failure(description: "the engine takes nothing") }
        for case .refused(let refusal) in replies.map(\.content) {
            throw Recording.Failure(description: "\(refusal.code.rawValue): \(refusal.detail)")
        }
        return replies
    }
}

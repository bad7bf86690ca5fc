import Engine
import Foundation
import Ledger
import Policies
import Storage
import Synchronization
import Testing
import Time
import TrustInsights

/// One random life of a data folder. The seed decides all that is asked and all that befalls it.
final class Simulation {
    struct Broken: Error, CustomStringConvertible { var description: String }

    /// What happened, so that a run can tell that it tried something.
    struct Tally {
        var entries: UInt64 = 0
        var (crashes, failures, restarts, jumps) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        var (grants, debts) = (UInt64(0), UInt64(0))

        mutating func add(_ other: Tally) {
            entries += other.entries
            crashes += other.crashes
            failures += other.failures
            restarts += other.restarts
            jumps += other.jumps
            grants += other.grants
            debts += other.debts
        }
    }

    private let seed: UInt64
    private let loads: [CandidateLoad]
    private var random: SeededGenerator
    private let stage: Stage
    /// What stands between the engine and the database now.
    private let wrapper = Wrapper()
    private var failing: FailingStore? { wrapper.store }
    /// The ledger as it is to be.
    private var known: [LedgerEntry] = []
    private var tally = Tally()
    private var step = 0
    /// The furthest that the wall clock ever was.
    private var latest = Service.start

    static func run(seed: UInt64, _ loads: [CandidateLoad]) throws -> Tally {
        let simulation = try Simulation(seed, loads)
        do {
            try simulation.live()
        } catch {
            throw Broken(description: "step \(simulation.step): \(error)")
        }
        return simulation.tally
    }

    private init(_ seed: UInt64, _ loads: [CandidateLoad]) throws {
        self.seed = seed
        self.loads = loads
        random = SeededGenerator(seed: seed)
        let wrapper = wrapper
        stage = try Stage(generation: random.pick([3, 7, 20, 32_768])) { wrapper.wrap($0) }
    }

    private func live() throws {
        let commands: [(Tenant?, Command)] =
            [
                (nil, .administer(.registerApp(id: "transcripts", name: "Transcripts"))),
                (nil, .administer(.registerApp(id: "other", name: "Other"))),
                (nil, .administer(.configure(configuration(), zones: "none"))),
                (nil, .administer(.loadPolicies(loads[0]))),
            ]
            + Stage.tenants.flatMap { tenant in
                RandomStoryTests.people.map {
                    (tenant, stage.authorize($0, .authorized, tenant))
                }
            }
        try perform(commands)
        for _ in 0..<Int.random(in: 20...45, using: &random) {
            step += 1
            passTime()
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<13: try perform(batch())
            case 13..<15: try performWhileFailing()
            case 15..<17: try crash()
            case 17: try restart()
            default: try perform([batch()[0]], again: true)
            }
        }
        try end()
    }

    private func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.debt.minimum = random.pick([2, 3, 50])
        configuration.reportWithin = random.pick([.minutes(1), .hours(1)])
        return configuration
    }

    /// The wall clock goes on, jumps ahead, or is put back.
    private func passTime() {
        let span: Duration = random.pick([
            .zero, .milliseconds(1), .seconds(30), .minutes(20), .hours(1), .hours(9), .days(3),
        ])
        if Int.random(in: 0..<12, using: &random) == 0 {
            tally.jumps += 1
            stage.clock.advance(.zero - span)
        } else {
            stage.clock.advance(span)
        }
        latest = max(latest, stage.clock.now)
    }

    private func batch() -> [(Tenant?, Command)] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in
            SimulatedCommand.next(&random, on: stage, loads)
        }
    }

    private func submissions(_ commands: [(Tenant?, Command)]) -> [Submission] {
        commands.enumerated().map { place, command in
            Submission(
                tenant: command.0, actor: command.0 == nil ? "operator" : "key-\(place % 2)",
                command: command.1, salt: Story.salt(step, place + Int(seed) * 1_000))
        }
    }

    // MARK: What happens

    /// Performs a batch; `again`, and the same once more, which changes nothing where a retry is one.
    private func perform(_ commands: [(Tenant?, Command)], again: Bool = false) throws {
        let submissions = submissions(commands)
        let replies = stage.perform(submissions)
        stage.remember(replies)
        try account(for: replies, to: submissions)
        guard again else { return }
        step += 1
        try account(for: stage.perform(submissions), to: submissions)
    }

    /// Some calls to the store fail. What is refused for that is sent again.
    private func performWhileFailing() throws {
        let first = Int.random(in: 1...6, using: &random)
        let kinds: Set<FailingStore.Kind> = random.pick([
            [.commit], [.append], [.read], [.commit, .append], [.commit, .append, .read],
        ])
        let length = Int.random(in: 1...4, using: &random)
        failing?.begin(.init(kinds: kinds, failing: first..<first + length))
        let commands = batch()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            step += 1
            let submissions = submissions(commands)
            let replies = stage.perform(submissions)
            stage.remember(replies)
            try account(for: replies, to: submissions)
        }
        tally.failures += UInt64(failing?.counts.failures ?? 0)
        failing?.begin(.init(kinds: [], failing: 0..<0))
        // The disk is well again: nothing that comes now is refused for it.
        let submissions = submissions([(nil, .administer(.registerApp(id: "a\(step)", name: "")))])
        let replies = stage.perform(submissions)
        try account(for: replies, to: submissions)
        if let refusal = replies.first?.refusal {
            throw Broken(description: "after the failures: \(refusal)")
        }
    }

    /// The process ends on the spot: between two batches, or in the middle of a commit, of which then
    /// nobody was told.
    private func crash() throws {
        tally.crashes += 1
        guard Bool.random(using: &random) else {
            let before = answers()
            try restart(from: stage.folder.copied(), looking: before)
            return
        }
        let isAfter = Bool.random(using: &random)
        let copy = Mutex<TemporaryFolder?>(nil)
        let folder = stage.folder
        failing?.watch { isDone in
            guard isDone == isAfter else { return }
            copy.withLock { if $0 == nil { $0 = try? folder.copied() } }
        }
        let submissions = submissions(batch())
        let replies = stage.perform(submissions)
        failing?.watch(nil)
        guard let crashed = copy.withLock({ $0 }) else {
            // Nothing of the batch was to be stored.
            try account(for: replies, to: submissions)
            return
        }
        try stage.restart(from: crashed)
        let found = try stage.entries()
        // A commit is there whole or not at all.
        if isAfter {
            try Broken.unless(found.count > known.count, "a commit is gone")
            known += found.dropFirst(known.count)
        }
        try compare(found)
    }

    /// A restart in good order, of which the files that are derived may not survive.
    private func restart() throws {
        tally.restarts += 1
        let before = answers()
        let damage = Int.random(in: 0..<5, using: &random)
        let place = Int.random(in: 0..<1_000, using: &random)
        let (stage, folder) = (stage, stage.folder)
        try stage.restart {
            if damage == 1 || damage == 2 { try? folder.remove("index") }
            if damage == 2 || damage == 3 { try? folder.remove("state.snapshot") }
            if damage == 4, let names = try? folder.names("index").sorted(), !names.isEmpty {
                try? folder.change("index/" + names[place % names.count]) {
                    $0 = $0.prefix($0.count * place / 1_000)
                }
            }
        }
        try compare(stage.entries())
        try compare(before)
    }

    private func restart(from copy: TemporaryFolder, looking before: [String]) throws {
        try stage.restart(from: copy)
        try compare(stage.entries())
        try compare(before)
    }

    // MARK: What must hold

    private func account(for replies: [Reply], to submissions: [Submission]) throws {
        try Broken.unless(replies.count == submissions.count, "a command was not answered")
        var new: [LedgerEntry] = []
        try stage.store.reader.scan(from: Int64(known.count) + 1) {
            new.append($0)
            return true
        }
        try Acknowledgements.check(replies, submissions, new)
        known += new
    }

    private func compare(_ found: [LedgerEntry]) throws {
        if let difference = ReplayTests.differences(known, found) {
            throw Broken(description: "the ledger after a start: \(difference)")
        }
    }

    private func compare(_ answers: [String]) throws {
        // The engine's clock is that of the latest entry again, if the wall clock was put back.
        guard stage.clock.now >= latest else { return }
        for (before, after) in zip(answers, self.answers()) where before != after {
            throw Broken(description: "answered before a start: \(before)\nafter: \(after)")
        }
    }

    /// All that can be asked without changing anything.
    private func answers() -> [String] {
        var commands: [(Tenant?, Command)] = []
        for tenant in Stage.tenants {
            commands.append((tenant, .listDebt(after: 0, limit: 100)))
            for request in RandomStoryTests.requests {
                commands.append((tenant, .show(.requestID(request))))
            }
        }
        for person in RandomStoryTests.people {
            for device in ["phone", "tablet"] {
                let donation = stage.donation(
                    "exportedVideo", person, device: device, version: "9.9", minutes: 9)
                commands.append((Stage.sandbox, .review(.status(donation))))
            }
        }
        return stage.perform(submissions(commands)).map { "\($0.debt) \($0.now) \($0.content)" }
    }

    private func end() throws {
        let entries = try stage.entries()
        try compare(entries)
        var invariants = try Invariants(entries, root: stage.store.tail().frontier.root)
        try invariants.check()
        for tenant in Stage.tenants {
            let reply = stage.engine.perform(
                Submission(
                    tenant: tenant, actor: "asking", command: .listDebt(after: 0, limit: 999)))
            try invariants.checkDebt(of: tenant, reply)
            tally.debts += UInt64(reply.debt)
        }
        try checkSeparation(invariants)
        tally.entries += UInt64(entries.count)
        tally.grants += UInt64(invariants.grants.count)
        try replay(entries)
    }

    /// What belongs to one app and environment cannot be seen from another.
    private func checkSeparation(_ invariants: Invariants) throws {
        for (owner, id) in invariants.evaluations.suffix(5) {
            for tenant in Stage.tenants where tenant != owner {
                let reply = stage.engine.perform(
                    Submission(
                        tenant: tenant, actor: "asking", command: .show(.evaluationID(id.text))))
                let code: Refusal.Code = tenant.app == owner.app ? .environmentMismatch : .notFound
                try Broken.unless(
                    reply.refusal?.code == code, "\(tenant) sees what is of \(owner): \(reply)")
            }
        }
    }

    /// The recorded commands make the recorded entries again.
    private func replay(_ entries: [LedgerEntry]) throws {
        let replayed = try Stage()
        var replay = Replay(zones: .utc)
        for entry in entries {
            guard case .command(let submission, let at) = try replay.step(entry) else { continue }
            replayed.clock.advance(at - replayed.clock.now)
            _ = replayed.perform([submission])
        }
        if let difference = ReplayTests.differences(entries, try replayed.entries()) {
            throw Broken(description: "replayed: \(difference)")
        }
    }
}

extension Simulation.Broken {
    static func unless(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        if !holds { throw Self(description: what()) }
    }
}

/// Stands between the engine and the database, and keeps who does so now.
private final class Wrapper {
    private(set) var store: FailingStore?

    func wrap(_ store: SQLiteStore) -> any Store {
        let failing = FailingStore(store)
        self.store = failing
        return failing
    }
}

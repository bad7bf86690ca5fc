import Foundation
import JSON
import Synchronization
import Testing

extension Scenarios {
    /// Every call that the service makes to its disk fails: what it acknowledged is there all the
    /// same, nothing is there twice, and it went on or ended with a message.
    @Suite struct Faults {
        /// How many faults are tried, drawn by chance; `all` of them by `make prove`.
        private static let wanted = ProcessInfo.processInfo.environment["DISCERN_FAULTS"] ?? "8"
        private static let seed =
            ProcessInfo.processInfo.environment["DISCERN_FAULT_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...999_999)
        private static let workers = 4

        /// Where a story begins.
        enum Start: CaseIterable {
            /// Without a folder.
            case empty
            /// With so many entries that the story fills a generation of the index.
            case filled
        }

        @Test(.enabled(if: FaultLibrary.isPossible, "needs a C compiler"))
        func nothingIsLostWhateverFails() throws {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let base = try Base(in: folder)
            let plain = try Start.allCases.map { start in
                (start, try Self.tell(nil, from: start, base))
            }
            for (start, run) in plain {
                #expect(run.problem == nil, "\(start), undisturbed: \(run.problem ?? "")")
                #expect(run.failures == 0 && run.calls[.write, default: 0] > 50)
                Progress.say(
                    "\(start): "
                        + DiskFault.Call.allCases.map { "\(run.calls[$0] ?? 0) × \($0)" }
                        .joined(separator: ", "))
            }
            if Self.wanted == "all" {
                for start in Start.allCases {
                    for kind in DiskFault.Kind.all { Self.exhaust(kind, from: start, base) }
                }
            } else {
                try Self.sample(Int(Self.wanted) ?? 8, of: plain, base)
            }
        }

        /// Faults that are drawn by chance.
        private static func sample(
            _ count: Int, of plain: [(start: Start, run: Run)], _ base: Base
        ) throws {
            var random = SplitMix(state: seed)
            let drawn = try (0..<count).map { _ in
                let (start, run) = plain[Int.random(in: plain.indices, using: &random)]
                let kind = try #require(DiskFault.Kind.all.randomElement(using: &random))
                let last = max(1, run.calls[kind.call] ?? 1)
                let number = Int.random(in: 1...last, using: &random)
                return (start, DiskFault(kind: kind, number: number))
            }
            let problems = Gathered<String>()
            concurrently(min(workers, count)) { worker in
                for (start, fault) in drawn[...].striding(from: worker, by: workers) {
                    if let problem = suffer(fault, from: start, base).problem {
                        problems.add("seed \(seed), \(start), \(fault): \(problem)")
                    }
                }
            }
            for problem in problems.all { Issue.record("\(problem)") }
        }

        /// The first call, the second, and so on, until a story passes without the fault.
        private static func exhaust(_ kind: DiskFault.Kind, from start: Start, _ base: Base) {
            let next = Atomic(1)
            let isOver = Flag()
            let (problems, reached) = (Gathered<String>(), Gathered<Int>())
            concurrently(workers) { _ in
                while !isOver.isSet, problems.count < 20 {
                    let fault = DiskFault(
                        kind: kind, number: next.add(1, ordering: .relaxed).oldValue)
                    let run = suffer(fault, from: start, base)
                    if run.failures > 0 {
                        reached.add(fault.number)
                    } else if run.problem == nil {
                        isOver.set()
                    }
                    if let problem = run.problem { problems.add("\(fault): \(problem)") }
                }
            }
            Progress.say("\(start), \(kind): \(reached.count) faults, \(problems.count) problems")
            for problem in problems.all { Issue.record("\(start), \(problem)") }
        }

        /// Every second service is killed at the end of its story, unless the fault would come only
        /// when it stops.
        private static func suffer(_ fault: DiskFault, from start: Start, _ base: Base) -> Run {
            do {
                let isKilled = fault.number % 2 == 0
                let run = try tell(fault, from: start, base, isKilled: isKilled)
                guard isKilled, run.failures == 0, run.problem == nil else { return run }
                return try tell(fault, from: start, base)
            } catch {
                return Run(problem: "\(error)")
            }
        }

        // MARK: A run

        private struct Run: Sendable {
            var calls: [DiskFault.Call: Int] = [:]
            var failures = 0
            var problem: String?
        }

        /// Tells the story with a fault, starts again without, and looks what is left.
        private static func tell(
            _ fault: DiskFault?, from start: Start, _ base: Base, isKilled: Bool = false
        ) throws -> Run {
            let service = try Service()
            if start == .filled { try base.copy(to: service.data) }
            let counting = service.folder.path + "/count"
            try FileManager.default.createDirectory(
                atPath: service.data, withIntermediateDirectories: true)
            service.environment = try base.library.environment(
                fault, below: service.data, counting: counting)
            var story = FaultStory(isLasting: fault?.kind.lasts ?? false)
            var problem = try story.tell(on: service, isKilled: isKilled)
            let (calls, failures) = FaultLibrary.counts(in: counting)
            service.environment = [:]
            if problem == nil {
                problem = try check(
                    service, story.acknowledged, after: start == .filled ? base.entries : 0)
            }
            return Run(calls: calls, failures: failures, problem: problem)
        }

        private static func check(
            _ service: Service, _ acknowledged: [Acknowledged], after start: Int64
        ) throws -> String? {
            do {
                try service.start()
            } catch {
                return "it does not start again: \(error)"
            }
            if let wrong = Acknowledged.replay(acknowledged, service).first {
                return "acknowledged, and now: \(wrong)"
            }
            var ledger = try AuditedLedger(
                service.client(key: service.operatorKey), after: start)
            ledger.verify()
            if let fault = Acknowledged.faults(ledger, acknowledged).first { return fault }
            let status = try service.stop()
            guard status == 0 else { return "stopped with \(status)" }
            let verified = try service.command("audit", "verify")
            return verified.status == 0 ? nil : "audit verify: \(verified.errors)"
        }

        // MARK: The folder with a generation that is nearly full

        private struct Base: Sendable {
            let library: FaultLibrary
            let data: String
            let entries: Int64

            init(in folder: TemporaryFolder) throws {
                library = try FaultLibrary(in: folder)
                data = folder.path + "/base"
                let made = try Program.run(
                    ["evaluations", data, "6625", "7"], of: Program.built("fixture-generator"))
                try #require(made.status == 0, "\(made.errors)")
                entries = try Tampering(data).number("SELECT max(sequence) FROM entries")
                // A generation has 8,192; a start and the story together more than 40.
                try #require((8_152..<8_180).contains(entries), "\(entries)")
            }

            func copy(to other: String) throws { try Files.copy(data, to: other) }
        }
    }
}

/// A small generator with a seed, so that a failure can be run again.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

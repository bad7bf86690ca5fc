import Foundation
import Testing

@Suite struct RandomHistoryTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// How many histories: DISCERN_HISTORIES, or what a test run can wait for.
    static let histories: UInt64 = {
        #if DEBUG
            let usual: UInt64 = 1_000
        #else
            let usual: UInt64 = 10_000
        #endif
        return environment["DISCERN_HISTORIES"].flatMap(UInt64.init) ?? usual
    }()
    /// The first seed; each history has the next one.
    static let seed = environment["DISCERN_HISTORY_SEED"].flatMap(UInt64.init) ?? 1
    private static let steps = 24

    @Test(.enabled(if: TestZones.arePresent, "needs the package tzdata"))
    func capsHoldAndWhatIsSaidOfTheFutureIsTrue() async {
        let workers = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
        let (first, count) = (Self.seed, Self.histories)
        print("random histories: seeds \(first) to \(first + count - 1)")
        var tally = HistoryTally()
        var failures: [String] = []
        await withTaskGroup(of: (HistoryTally, [String]).self) { group in
            for worker in 0..<workers {
                group.addTask { Self.run(stride(from: worker, to: count, by: Int(workers)), first) }
            }
            for await (part, failed) in group {
                tally += part
                failures += failed
            }
        }
        print("random histories: \(tally)")
        for failure in failures.prefix(5) { Issue.record("\(failure)") }
        #expect(failures.isEmpty, "\(failures.count) of \(count)")
        Self.checkThatThingsHappened(tally)
    }

    private static func run(_ numbers: StrideTo<UInt64>, _ first: UInt64)
        -> (HistoryTally, [String])
    {
        var tally = HistoryTally()
        var failures: [String] = []
        for number in numbers {
            var history = RandomHistory(seed: first + number)
            do {
                try history.run(steps)
            } catch {
                failures.append("DISCERN_HISTORY_SEED=\(first + number): \(error)")
            }
            tally += history.tally
        }
        return (tally, failures)
    }

    /// Histories in which nothing happens would prove nothing.
    private static func checkThatThingsHappened(_ tally: HistoryTally) {
        guard tally.histories >= 500 else { return }
        #expect(tally.asks > tally.histories)
        #expect(tally.awaited > tally.histories)
        #expect(tally.hopeless > tally.histories)
        for (name, count) in [
            ("skewed", tally.skewed), ("merges", tally.merges), ("superseded", tally.superseded),
            ("late", tally.lateReports), ("repeated", tally.repeatedReports),
            ("refused", tally.refusedReports), ("erasures", tally.erasures), ("calm", tally.calm),
        ] { #expect(count * 100 > tally.histories, "\(name)") }
    }
}

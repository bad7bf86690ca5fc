import Engine
import Foundation
import Synchronization
import Testing

/// Random lives of a data folder, with all that may befall it: `make prove` tells thousands.
@Suite struct SimulationTests {
    private static func setting(_ name: String, else standard: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
    }

    @Test func nothingThatWasAcknowledgedIsLost() throws {
        let count = Self.setting("DISCERN_SIMULATION_SEEDS", else: 16)
        let first = Self.setting("DISCERN_SIMULATION_SEED", else: 1)
        let loads = try RandomStoryTests.loads()
        let next = Atomic(first)
        let total = Mutex(Simulation.Tally())
        let failures = Mutex<[String]>([])
        let group = DispatchGroup()
        for _ in 0..<max(2, ProcessInfo.processInfo.activeProcessorCount) {
            DispatchQueue.global().async(group: group) {
                while true {
                    let seed = next.add(1, ordering: .relaxed).oldValue
                    guard seed - first < count, failures.withLock({ $0.count }) < 10 else { return }
                    do {
                        let tally = try Simulation.run(seed: seed, loads)
                        total.withLock { $0.add(tally) }
                    } catch {
                        failures.withLock { $0.append("DISCERN_SIMULATION_SEED=\(seed): \(error)") }
                    }
                    if (seed - first + 1) % 1_000 == 0 {
                        let line = "prove: \(seed - first + 1) of \(count) simulations\n"
                        FileHandle.standardError.write(Data(line.utf8))
                    }
                }
            }
        }
        group.wait()
        for failure in failures.withLock({ $0 }) { Issue.record("\(failure)") }
        // Lives in which nothing happens would prove nothing.
        let tally = total.withLock { $0 }
        if count >= 10 {
            #expect(tally.entries > count * 20 && tally.grants > count / 4 && tally.debts > 0)
            #expect(tally.crashes > count && tally.failures > count)
        }
        if count >= 1_000 {
            FileHandle.standardError.write(
                Data("prove: seeds \(first) to \(first + count - 1): \(tally)\n".utf8))
        }
    }
}

import Engine
import Policies
import ReviewPrompts
import Time

/// One or two policies over the same events.
struct SimulationRun {
    /// What came of one event of the person that is followed.
    struct Moment {
        var event: ReviewEvent
        /// One for each policy.
        var steps: [ReviewSimulation.Step]
    }

    /// Moments that are kept; further ones are counted.
    static let moments = 10_000

    private(set) var simulations: [ReviewSimulation]
    private(set) var reports: [SimulationReport] = []
    private(set) var timeline: [Moment] = []
    /// Events of that person beyond ``moments``.
    private(set) var furtherMoments = 0
    private let subject: String?
    private let decisions: DecisionFile?

    /// - Parameters:
    ///   - subject: who is followed.
    ///   - decisions: where every event is written to.
    init(
        _ policies: [ReviewPromptPolicy], zones: ZoneDatabase, timeline subject: String?,
        decisions: DecisionFile? = nil
    ) {
        simulations = policies.map { ReviewSimulation($0, zones: zones) }
        self.subject = subject
        self.decisions = decisions
    }

    /// Plays all events.
    mutating func perform(_ source: EventSource) throws {
        var whole = Stopwatch()
        let progress = Progress("simulating")
        var taken = 0
        try whole.time {
            var batch = Batch()
            try source.each { event, number in
                batch.append(event, number)
                taken += 1
                guard batch.isFull else { return }
                try perform(batch, source)
                batch = Batch()
                progress.show("\(Figures.grouped(taken)) donations")
            }
            try perform(batch, source)
        }
        progress.end()
        reports = simulations.map { $0.finish() }
        Terminal.say(
            "\(Figures.counted(taken, "donation")) in "
                + "\(Figures.tenths(Double(whole.nanoseconds) / 1e9)) s: "
                + "\(Figures.grouped(whole.rate(of: Int64(taken)))) a second")
    }

    /// Puts the file of decisions in its place, if there is one.
    func keepDecisions() throws { try decisions?.finish() }

    // MARK: Batches

    /// Events that the policies take at the same time, each on a thread of its own.
    private struct Batch: Sendable {
        private(set) var events: [ReviewEvent] = []
        private(set) var numbers: [Int64] = []
        /// So many that threads are worth their start, and so few that the longest lines are no load.
        var isFull: Bool { events.count == 1_024 }

        mutating func append(_ event: ReviewEvent, _ number: Int64) {
            events.append(event)
            numbers.append(number)
        }
    }

    /// What a policy made of a batch.
    private struct Played: Sendable {
        /// The steps that are told of, by the place in the batch.
        var told: [(place: Int, step: ReviewSimulation.Step)] = []
        var failure: (place: Int, error: SimulationError)?
    }

    /// A policy on the way to its thread and back: `Parallel` hands each index to one thread and
    /// waits for all, so no two threads ever have the same one.
    private struct Lane: @unchecked Sendable {
        let simulation: ReviewSimulation

        /// - Parameter isTold: whether the step of an event is told of.
        func play(_ batch: Batch, _ isTold: (ReviewEvent) -> Bool) -> Played {
            var played = Played()
            for (place, event) in batch.events.enumerated() {
                do {
                    let step = try simulation.take(event)
                    if isTold(event) { played.told.append((place, step)) }
                } catch {
                    played.failure = (place, error)
                    break
                }
            }
            return played
        }
    }

    private mutating func perform(_ batch: Batch, _ source: EventSource) throws {
        let lanes = simulations.map(Lane.init)
        let subject = subject
        let tellsAll = decisions != nil
        let played = Parallel.map(lanes.count) { index in
            lanes[index].play(batch) { tellsAll || $0.donation.subject == subject }
        }
        for case let failure? in played.map(\.failure) {
            throw source.fault(failure.error, at: batch.numbers[failure.place])
        }
        for (index, first) in (played.first?.told ?? []).enumerated() {
            let moment = Moment(
                event: batch.events[first.place], steps: played.map { $0.told[index].step })
            try decisions?.write(moment, number: batch.numbers[first.place])
            guard moment.event.donation.subject == subject else { continue }
            if timeline.count < Self.moments {
                timeline.append(moment)
            } else {
                furtherMoments += 1
            }
        }
    }
}

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

    init(_ policies: [ReviewPromptPolicy], zones: ZoneDatabase, timeline subject: String?) {
        simulations = policies.map { ReviewSimulation($0, zones: zones) }
        self.subject = subject
    }

    /// Plays all events.
    mutating func perform(_ source: EventSource) throws {
        var whole = Stopwatch()
        let progress = Progress("simulating")
        var taken = 0
        try whole.time {
            try source.each { event in
                let steps = try simulations.map { try $0.take(event) }
                if event.donation.subject == subject {
                    if timeline.count < Self.moments {
                        timeline.append(Moment(event: event, steps: steps))
                    } else {
                        furtherMoments += 1
                    }
                }
                taken += 1
                if taken & 0xFFF == 0 { progress.show("\(Figures.grouped(taken)) donations") }
            }
        }
        progress.end()
        reports = simulations.map { $0.finish() }
        Terminal.say(
            "\(Figures.counted(taken, "donation")) in "
                + "\(Figures.tenths(Double(whole.nanoseconds) / 1e9)) s: "
                + "\(Figures.grouped(whole.rate(of: Int64(taken)))) a second")
    }
}

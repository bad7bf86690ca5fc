import Engine
import ReviewPrompts
import Time

/// What came of each event of one person, as people read it.
struct TimelineText {
    let lines: [String]

    init(_ run: SimulationRun, subject: String, columns: Int = Layout.columns) {
        let names = run.reports.map(\.policy)
        let width = min(names.map(\.count).max() ?? 0, 30)
        var lines = Layout.wrapIfLong("timeline of \(subject)", columns: columns)
        var installs: [String: Instant] = [:]
        for moment in run.timeline {
            let donation = moment.event.donation
            var head =
                "  \(moment.event.receivedAt.rfc3339)  \(donation.reason)  "
                + (donation.version.isEmpty ? "no version" : donation.version)
                + "  \(donation.device)"
            if let installedAt = donation.installedAt, installs[donation.device] != installedAt {
                head += "  installed \(installedAt.rfc3339)"
                installs[donation.device] = installedAt
            }
            if !moment.event.hasActiveScene { head += "  no scene" }
            let off = donation.occurredAt - moment.event.receivedAt
            if max(off, -off) > ReviewPromptLimits.freshness {
                head += "  occurred \(donation.occurredAt.rfc3339)"
            }
            lines += Layout.wrapIfLong(head, columns: columns)
            for (name, step) in zip(names, moment.steps) {
                lines += Layout.beside(
                    "      " + Figures.left(Layout.fit(name, width), width) + "  ",
                    Self.words(step), columns: columns)
            }
        }
        if run.furtherMoments > 0 {
            lines.append("  and \(Figures.counted(run.furtherMoments, "event")) more")
        }
        self.lines = lines
    }

    /// What came of it, in words.
    static func words(_ step: ReviewSimulation.Step) -> String {
        switch step.result {
        case .prompted(let isSilent):
            let against = step.violations.map(\.words)
            return (isSilent ? "ASK, nothing heard" : "ASK")
                + (against.isEmpty ? "" : ": " + against.joined(separator: ", "))
        case .returned(let reason): return "given back: \(reason ?? "no reason")"
        case .held:
            let why = step.failing.map { failing -> String in
                // A donation that does not count may have the count that is needed all the same.
                guard !failing.cause.hasPrefix("condition"), let have = failing.have?.words,
                    let need = failing.need?.words
                else {
                    return "\(failing.rule) (\(failing.cause))"
                }
                return "\(failing.rule) (\(have), needs \(need))"
            }
            return "hold: " + why.joined(separator: ", ")
        case .refused(let error): return "not judged: \(error)"
        }
    }
}

extension ReviewAmount {
    fileprivate var words: String {
        switch self {
        case .count(let count): Figures.grouped(count)
        case .days(let days): Figures.counted(days, "day")
        case .elapsed(let length):
            // To the second: nobody looks for milliseconds in days.
            length.milliseconds.magnitude < 1000
                ? length.policyText : Duration.seconds(length.milliseconds / 1000).policyText
        case .text(let text): text.isEmpty ? "nothing" : text
        }
    }
}

extension ReviewNeed {
    fileprivate var words: String {
        switch self {
        case .atLeast(let amount): "at least \(amount.words)"
        case .below(let amount): "below \(amount.words)"
        case .equal(let amount): "exactly \(amount.words)"
        }
    }
}

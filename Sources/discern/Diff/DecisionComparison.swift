import Engine
import Policies
import Storage
import Time
import TrustInsights

/// What two policies decide on the same recorded evaluations.
struct DecisionComparison {
    struct Example {
        var evaluation: String
        var at: Instant
        var old: Decision
        var new: Decision
    }

    /// How many evaluations both judged.
    private(set) var evaluations = 0
    /// How many the one or the other could not judge.
    private(set) var unjudged = 0
    /// How many of those judged have other friction, steps, hold or notify.
    private(set) var changed = 0
    /// How many have the same output for other reasons.
    private(set) var otherReasons = 0
    /// From which friction to which, where the output changed.
    private(set) var moves: [String: Int] = [:]
    private(set) var examples: [Example] = []

    /// Judges by both, evaluation by evaluation.
    static func run(
        _ old: Backtest, _ new: Backtest, _ stream: RecordedStream, _ tenant: Tenant, examples: Int
    ) throws -> DecisionComparison {
        var result = DecisionComparison()
        var before: Decision?
        var after: Decision?
        old.onJudgement = { _, judgement in before = judgement.decision }
        new.onJudgement = { _, judgement in after = judgement.decision }
        defer {
            old.onJudgement = nil
            new.onJudgement = nil
        }
        let progress = Progress("judging")
        var taken = 0
        try stream.each(of: tenant) { entry in
            guard case .evaluation(let record) = entry else { return }
            (before, after) = (nil, nil)
            old.take(record)
            new.take(record)
            result.note(record, before, after, examples: examples)
            taken += 1
            if taken & 0xFFF == 0 { progress.show("\(Figures.grouped(taken)) entries") }
        }
        progress.end()
        return result
    }

    private mutating func note(
        _ record: RecordedEvaluation, _ old: Decision?, _ new: Decision?, examples limit: Int
    ) {
        guard let old, let new else {
            if old != nil || new != nil { unjudged += 1 }
            return
        }
        evaluations += 1
        guard old.output != new.output else {
            if old.reasons.map(\.rule) != new.reasons.map(\.rule) { otherReasons += 1 }
            return
        }
        changed += 1
        moves["\(old.output.friction.name) → \(new.output.friction.name)", default: 0] += 1
        if examples.count < limit {
            examples.append(
                Example(
                    evaluation: record.evaluationID.text, at: record.receivedAt, old: old,
                    new: new))
        }
    }
}

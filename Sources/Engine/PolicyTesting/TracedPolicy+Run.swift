import CEL
import Policies
import ReviewPrompts
import TrustInsights

extension TracedPolicy {
    /// Runs again what was evaluated when an event was judged: conditions of the rules that were
    /// reached, explanations of those that matched.
    func run(_ record: EvaluationRecord, of policy: TrustPolicy) -> PolicyRun {
        var activation = Activation(policy.environment)
        Facts(record).fill(&activation, policy: policy, insight: record.acting)
        var run = PolicyRun()
        for (rule, verdict) in record.verdicts.enumerated() where rule < itemOfRule.count {
            guard verdict != .skipped, !record.isNotEntered(policy.rules[rule]) else { continue }
            let place = itemOfRule[rule]
            run.items[place] = ItemHits(reached: 1, matched: verdict.isMatch ? 1 : 0)
            if let condition = items[place].expression(.condition) {
                evaluate(condition, &activation, into: &run)
            }
            if verdict.isMatch, let explanation = items[place].expression(.explanation) {
                evaluate(explanation, &activation, into: &run)
            }
        }
        return run
    }

    /// Evaluates a plain policy's matches as the policy does.
    func run(_ policy: PlainPolicy, _ inputs: [(name: String, value: Value)]) -> PolicyRun {
        var activation = Activation(policy.environment)
        for (name, value) in inputs {
            if let slot = policy.environment.slot(name) { activation.set(slot, value) }
        }
        var run = PolicyRun()
        var next = 0
        _ = evaluate(policy.rule, &next, &activation, into: &run)
        return run
    }

    /// Whether the search ends here. `next` is the number of the block's first match.
    private func evaluate(
        _ block: PlainBlock, _ next: inout Int, _ activation: inout Activation,
        into run: inout PolicyRun
    ) -> Bool {
        for match in block.matches {
            let place = itemOfRule[next]
            next += 1
            var holds = true
            if let condition = items[place].expression(.condition) {
                evaluate(condition, &activation, into: &run)
                guard case .bool(let value)? = run.results[condition]?.value else {
                    run.items[place] = ItemHits(reached: 1)
                    return true
                }
                holds = value != match.isNegated
            }
            run.items[place] = ItemHits(reached: 1, matched: holds ? 1 : 0)
            guard holds else {
                if case .block(let nested) = match.action { next += nested.matchCount }
                continue
            }
            switch match.action {
            case .output:
                for role in [Role.output, .explanation] {
                    if let expression = items[place].expression(role) {
                        evaluate(expression, &activation, into: &run)
                    }
                }
                return true
            case .block(let nested):
                let after = next + nested.matchCount
                if evaluate(nested, &next, &activation, into: &run) { return true }
                next = after
                if !match.isUnconditional { return true }
            }
        }
        return false
    }

    /// What the rules of a review-prompt policy said at one step. The donation's condition is not
    /// in it; that is recorded when it is evaluated.
    func run(_ judged: StepTestResult.Judged) -> PolicyRun {
        var run = PolicyRun()
        for verdict in judged.verdicts {
            guard let place = items.firstIndex(where: { $0.name == verdict.rule }) else { continue }
            let passes = verdict.result == .pass
            let works = items[place].kind == .limit ? !passes : passes
            var hits = ItemHits(reached: 1, matched: works ? 1 : 0)
            if items[place].counts.count == verdict.parts.count {
                hits.counts = verdict.parts.map { ($0.isMet ? 1 : 0, $0.isMet ? 0 : 1) }
            }
            run.items[place] = hits
        }
        return run
    }
}

extension PlainBlock {
    /// Its matches and all below them.
    fileprivate var matchCount: Int {
        matches.reduce(0) { sum, match in
            if case .block(let nested) = match.action { return sum + 1 + nested.matchCount }
            return sum + 1
        }
    }
}

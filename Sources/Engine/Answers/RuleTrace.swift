import CEL
import JSON
import Policies
import Time
import TrustInsights

/// What became of every rule and what it read: found by running the rules again over what the
/// record holds, which gives the same as then.
extension EvaluationRecord {
    /// Writes one object for each rule, in policy order.
    public func writeRules(to writer: inout JSONWriter, policy: TrustPolicy) {
        var activation = Activation(policy.environment)
        let facts = Facts(self)
        let judgement = facts.judge(by: policy, insight: acting, &activation)
        writer.beginArray()
        write(policy.rule, policy, judgement, &activation, to: &writer)
        writer.endArray()
    }

    /// Whether the rule stands in a block that was not entered, since the condition of the rule
    /// around it did not hold.
    func isNotEntered(_ rule: RuleSummary) -> Bool {
        guard let parent = rule.parent, parent < verdicts.count else { return false }
        switch verdicts[parent] {
        case .notMatched, .missing, .failed: return true
        case .matched, .matchedOnMissing, .matchedOnFailure, .skipped: return false
        }
    }

    private func write(
        _ block: RuleBlock, _ policy: TrustPolicy, _ judgement: Judgement,
        _ activation: inout Activation, to writer: inout JSONWriter
    ) {
        for match in block.matches {
            write(match, policy, judgement, &activation, to: &writer)
            if case .block(let nested) = match.action {
                write(nested, policy, judgement, &activation, to: &writer)
            }
        }
    }

    private func write(
        _ match: Match, _ policy: TrustPolicy, _ judgement: Judgement,
        _ activation: inout Activation, to writer: inout JSONWriter
    ) {
        // The letter that was recorded is the truth; running again only explains it.
        let verdict =
            match.index < verdicts.count ? verdicts[match.index] : judgement.verdicts[match.index]
        writer.beginObject()
        writer.member("rule", match.id)
        writer.member("verdict", verdict.name)
        if match.mode == .shadow { writer.member("mode", "shadow") }
        if isNotEntered(policy.rules[match.index]) {
            writer.member("cause", "the rule around it did not match")
        } else if verdict == .skipped {
            writer.member("cause", "an earlier rule decided")
        }
        if let error = judgement.failures.first(where: { $0.rule == match.index })?.error {
            if error.code == .missing {
                writer.member("missing", error.missing)
            } else {
                writer.object("error") { writer in
                    writer.member("code", "\(error.code)")
                    writer.member("message", error.message)
                    writer.member("expression", match.condition?.source)
                }
            }
        }
        if let condition = match.condition, verdict != .skipped {
            writer.object("read") { writer in
                for slot in condition.deepReads where slot < policy.slots.firstVariable {
                    write(slot, policy, activation, to: &writer)
                }
            }
        }
        writer.endObject()
    }

    private func write(
        _ slot: Int, _ policy: TrustPolicy, _ activation: borrowing Activation,
        to writer: inout JSONWriter
    ) {
        let name = policy.slots.slots[slot].name
        writer.key(name)
        if case .attribute(let index) = policy.slots.slots[slot].source,
            !policy.attributes[index].isStored
        {
            writer.string("withheld")
            return
        }
        switch activation.value(of: slot) {
        case .bool(let flag)?: writer.bool(flag)
        case .int(let number)?: writer.int(number)
        case .uint(let number)?: writer.uint(number)
        case .double(let number)?: writer.double(number)
        case .string(let text)?: writer.string(text)
        case .timestamp(let at)?:
            writer.string(
                Instant(milliseconds: at.seconds * 1000 + Int64(at.nanoseconds) / 1_000_000)
                    .rfc3339)
        case nil: writer.null()
        default: writer.string("…")
        }
    }
}

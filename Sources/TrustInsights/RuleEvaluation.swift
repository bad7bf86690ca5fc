import CEL
import Policies

/// What became of one rule. Every rule has a verdict; none ever vanishes.
public enum Verdict: UInt8, Sendable {
    /// The condition gave true.
    case matched = 0x6D  // m
    /// The condition gave false.
    case notMatched = 0x6E  // n
    /// Not reached: an earlier rule decided, or the block it stands in was not entered.
    case skipped = 0x73  // s
    /// Not evaluated, since a value of the caller was absent; `onMissing` says no match.
    case missing = 0x61  // a
    /// A value of the caller was absent; `onMissing` says match.
    case matchedOnMissing = 0x41  // A
    /// The condition failed and the rule does not raise friction: no match.
    case failed = 0x65  // e
    /// The condition failed and the rule raises friction: a match.
    case matchedOnFailure = 0x45  // E

    /// Whether the rule counts as matched.
    public var isMatch: Bool {
        switch self {
        case .matched, .matchedOnMissing, .matchedOnFailure: true
        case .notMatched, .skipped, .missing, .failed: false
        }
    }

    /// The name in answers: `matched`, `notMatched`, `notEvaluated` or `error`.
    public var name: String {
        switch self {
        case .matched, .matchedOnMissing: "matched"
        case .notMatched: "notMatched"
        case .skipped, .missing: "notEvaluated"
        case .failed, .matchedOnFailure: "error"
        }
    }

    /// The letters of all verdicts in policy order, as the ledger keeps them.
    public static func letters(_ verdicts: [Verdict]) -> String {
        String(decoding: verdicts.map(\.rawValue), as: UTF8.self)
    }
}

/// Why a decision is what it is: one matched rule.
public struct Reason: Sendable, Equatable {
    /// The rule's id.
    public var rule: String
    /// The text of its explanation, if it has one that could be evaluated.
    public var explanation: String?
    /// What changed the rule's output: `blockNeedsOtherEvidence`, `reducedWhileDegraded`.
    public var note: String?

    /// A reason of these parts.
    public init(rule: String, explanation: String? = nil, note: String? = nil) {
        self.rule = rule
        self.explanation = explanation
        self.note = note
    }
}

/// What the app should do.
public struct Decision: Sendable, Equatable {
    /// Friction, steps, hold and whom to notify.
    public var output: DecisionOutput
    /// The rules behind it, in policy order.
    public var reasons: [Reason]

    /// A decision of these parts.
    public init(output: DecisionOutput, reasons: [Reason]) {
        self.output = output
        self.reasons = reasons
    }
}

/// What a policy's rules gave for one event.
public struct Judgement: Sendable {
    /// The decision that acts.
    public var decision: Decision
    /// What would have been decided had the shadow rules acted; `nil` without such rules.
    public var shadowDecision: Decision?
    /// One verdict for each rule, in policy order.
    public var verdicts: [Verdict]
    /// For rules that met an absent value or failed: what happened, by rule index.
    public var failures: [(rule: Int, error: EvaluationError)]
    /// Whether a rule that acts failed.
    public var ruleFailed: Bool
}

extension TrustPolicy {
    /// Runs the rules over values that stand in the activation's slots.
    ///
    /// Pure: the same slots give the same judgement. `isDegraded` says that the model gave no
    /// result; such a decision is never `reduced`.
    public func judge(_ activation: inout Activation, isDegraded: Bool) -> Judgement {
        var run = RuleRun(ruleCount: rules.count)
        let result = run.evaluate(rule, inShadow: false, &activation)
        let degraded = isDegraded || run.actingRuleFailed
        return Judgement(
            decision: run.decision(result.acting, isDegraded: degraded),
            shadowDecision: rule.holdsShadow
                ? run.decision(result.would, isDegraded: degraded) : nil,
            verdicts: run.verdicts, failures: run.failures, ruleFailed: run.actingRuleFailed)
    }
}

/// One pass over the rules of a policy.
private struct RuleRun {
    /// What a block came to: an output and the matches behind it.
    struct Ruling {
        var output: DecisionOutput
        var reasons: [Reason]
    }

    /// What a block came to, without and with its shadow rules.
    struct BlockResult {
        var acting: Ruling?
        var would: Ruling?
    }

    var verdicts: [Verdict]
    var failures: [(rule: Int, error: EvaluationError)] = []
    var actingRuleFailed = false

    init(ruleCount: Int) { verdicts = [Verdict](repeating: .skipped, count: ruleCount) }

    /// Shadow rules are always evaluated, never end the search and never act; what they
    /// would have done is followed beside what is done.
    mutating func evaluate(
        _ block: RuleBlock, inShadow: Bool, _ activation: inout Activation
    ) -> BlockResult {
        var result = BlockResult()
        for match in block.matches where match.condition != nil || block.strategy == .firstMatch {
            let isShadow = inShadow || match.mode == .shadow
            let isDecided = block.strategy == .firstMatch && result.acting != nil
            if isDecided, !isShadow {
                lookIntoShadow(of: match, &activation)
                continue
            }
            guard let found = evaluate(match, isShadow: isShadow, &activation) else { continue }
            merge(found, into: &result, strategy: block.strategy)
        }
        guard block.strategy == .strictest else { return result }
        // A default counts only where nothing else did.
        for match in block.matches where match.condition == nil {
            let isShadow = inShadow || match.mode == .shadow
            guard result.acting == nil || result.would == nil else { break }
            guard let found = evaluate(match, isShadow: isShadow, &activation) else { continue }
            if result.acting == nil { result.acting = found.acting }
            if result.would == nil { result.would = found.would }
        }
        return result
    }

    private func merge(
        _ found: BlockResult, into result: inout BlockResult, strategy: Strategy
    ) {
        func combine(_ earlier: Ruling?, _ later: Ruling?) -> Ruling? {
            guard let earlier, let later else { return earlier ?? later }
            guard strategy == .strictest else { return earlier }
            return Ruling(
                output: earlier.output.strictest(with: later.output),
                reasons: earlier.reasons + later.reasons)
        }
        result.acting = combine(result.acting, found.acting)
        result.would = combine(result.would, found.would)
    }

    /// What a match comes to; `nil` where it does not match.
    // Not inlined: where its result is thrown away, the optimizer of Swift 6.3 loses track of who owns
    // it, and stops.
    @inline(never)
    private mutating func evaluate(
        _ match: Match, isShadow: Bool, _ activation: inout Activation
    ) -> BlockResult? {
        let verdict = verdict(of: match, isShadow: isShadow, &activation)
        verdicts[match.index] = verdict
        guard verdict.isMatch else {
            if case .block(let block) = match.action { doNotEnter(block, inShadow: isShadow) }
            return nil
        }
        switch match.action {
        case .block(let block):
            return evaluate(block, inShadow: isShadow, &activation)
        case .output(let output):
            let ruling = ruling(of: match, output: output, &activation)
            return BlockResult(acting: isShadow ? nil : ruling, would: ruling)
        }
    }

    /// Shadow rules in a block that was not reached, since an earlier rule decided, are evaluated
    /// all the same. The block itself stays not reached, and whether it would have been entered
    /// touches nothing else.
    private mutating func lookIntoShadow(of match: Match, _ activation: inout Activation) {
        guard case .block(let block) = match.action, block.holdsShadow else { return }
        let failuresBefore = failures.count
        let isEntered = verdict(of: match, isShadow: true, &activation).isMatch
        failures.removeSubrange(failuresBefore...)
        guard isEntered else { return doNotEnter(block, inShadow: false) }
        // Defaults of `strictest` count only where nothing else does: there is nothing to see.
        for inner in block.matches where inner.condition != nil || block.strategy == .firstMatch {
            if inner.mode == .shadow {
                _ = evaluate(inner, isShadow: true, &activation)
            } else {
                lookIntoShadow(of: inner, &activation)
            }
        }
    }

    /// The condition of a shadow rule is that of the blocks around it and its own together: where
    /// a block's does not hold, the rules in shadow in it do not match.
    private mutating func doNotEnter(_ block: RuleBlock, inShadow: Bool) {
        guard inShadow || block.holdsShadow else { return }
        for match in block.matches {
            let isShadow = inShadow || match.mode == .shadow
            if isShadow { verdicts[match.index] = .notMatched }
            if case .block(let nested) = match.action { doNotEnter(nested, inShadow: isShadow) }
        }
    }

    private mutating func verdict(
        of match: Match, isShadow: Bool, _ activation: inout Activation
    ) -> Verdict {
        guard let program = match.condition?.program else { return .matched }
        switch program.evaluateCondition(&activation) {
        case .matched: return .matched
        case .notMatched: return .notMatched
        case .failed(let error):
            failures.append((match.index, error))
            return verdict(of: match, failedWith: error, isShadow: isShadow)
        }
    }

    /// Degraded never means easier: what fails counts as matched if it raises friction.
    /// Values of the engine are never "missing": an absent score is no match.
    private mutating func verdict(
        of match: Match, failedWith error: EvaluationError, isShadow: Bool
    ) -> Verdict {
        if error.code == .missing {
            let isCallers = error.missing.contains {
                $0.hasPrefix("attributes.") || $0 == "device.value"
            }
            guard isCallers else { return .missing }
            switch match.onMissing {
            case .match: return .matchedOnMissing
            case .noMatch: return .missing
            case .error: break
            }
        }
        if !isShadow { actingRuleFailed = true }
        return match.raisesFriction ? .matchedOnFailure : .failed
    }

    private func ruling(
        of match: Match, output: DecisionOutput, _ activation: inout Activation
    ) -> Ruling {
        var reason = Reason(rule: match.id)
        if case .string(let text)? = match.explanation?.program.evaluate(&activation).value {
            reason.explanation = String(text.unicodeScalars.prefix(TrustLimits.explanation))
        }
        guard output.steps.contains(.block), !hasOtherEvidence(match, &activation) else {
            return Ruling(output: output, reasons: [reason])
        }
        // An insight is never the only reason to block somebody.
        reason.note = "blockNeedsOtherEvidence"
        let softened = DecisionOutput(
            friction: output.friction, steps: output.steps.replacing(.block, with: .manualReview),
            holdFor: output.holdFor, notify: output.notify)
        return Ruling(output: softened, reasons: [reason])
    }

    private func hasOtherEvidence(_ match: Match, _ activation: inout Activation) -> Bool {
        for evidence in match.otherEvidence {
            if case .matched = evidence.program.evaluateCondition(&activation) { return true }
        }
        return false
    }

    func decision(_ ruling: Ruling?, isDegraded: Bool) -> Decision {
        // A checked policy always ends in a match; should one not, nothing is made easier.
        guard let ruling else {
            return Decision(output: DecisionOutput(friction: .unchanged), reasons: [])
        }
        guard isDegraded, ruling.output.friction == .reduced else {
            return Decision(output: ruling.output, reasons: ruling.reasons)
        }
        var reasons = ruling.reasons
        for index in reasons.indices { reasons[index].note = "reducedWhileDegraded" }
        return Decision(
            output: DecisionOutput(friction: .unchanged, notify: ruling.output.notify),
            reasons: reasons)
    }
}

import Policies

/// How much of a policy its tests have seen.
///
/// What is counted are parts of the checked tree, never text: a policy gives the same figures
/// however it is laid out and whatever path it is loaded from.
public struct PolicyCoverage: Sendable {
    /// So many of so many.
    public struct Share: Sendable, Hashable {
        /// How many were seen.
        public var covered: Int
        /// How many there are.
        public var total: Int

        /// So many of so many.
        public init(covered: Int = 0, total: Int = 0) {
            self.covered = covered
            self.total = total
        }

        /// 0 to 100. Of nothing, all is covered.
        public var percent: Double { total == 0 ? 100 : Double(covered) * 100 / Double(total) }

        static func + (left: Share, right: Share) -> Share {
            Share(covered: left.covered + right.covered, total: left.total + right.total)
        }
    }

    /// What a part of a policy is.
    public enum PartKind: String, Sendable, Hashable {
        /// A match of a trust or plain policy.
        case rule
        /// A variable.
        case variable
        /// A limit of a review-prompt policy, or another rule that it configures.
        case limit
        /// A reason of a review-prompt policy.
        case reason
    }

    /// One place that is counted: a node of an expression, or the verdict of a limit or reason.
    public struct Site: Sendable, Hashable {
        /// What stands there.
        public var text: String
        /// Where it stands in the file; nil where that is not known.
        public var range: SourceRange?
        /// How often it was evaluated.
        public var evaluated: Int
        /// Whether it is a node of an expression, which counts as one node.
        public var isNode: Bool
        /// Whether it is a condition, which counts as two branches.
        public var isCondition: Bool
        /// How often it was true; of a limit or reason: how often it passed.
        public var wasTrue: Int
        /// How often it was false; of a limit or reason: how often it did not pass.
        public var wasFalse: Int

        /// What no test has shown: `never evaluated`, `never true`, `never false`.
        public var lack: Lack? {
            if evaluated == 0 { return .evaluated }
            guard isCondition else { return nil }
            switch (wasTrue, wasFalse) {
            case (0, 0): return .either
            case (0, _): return .true
            case (_, 0): return .false
            default: return nil
            }
        }
    }

    /// What a place has never been.
    public enum Lack: String, Sendable, Hashable {
        case evaluated = "never evaluated"
        case either = "never true or false"
        case `true` = "never true"
        case `false` = "never false"
    }

    /// A rule, variable, limit or reason.
    public struct Part: Sendable {
        /// What it is.
        public var kind: PartKind
        /// Its id or name; matches of plain policies are numbered, as `match 2.1`.
        public var name: String
        /// How deep it is nested, from 0.
        public var depth: Int
        /// Where it starts in the file.
        public var position: SourcePosition?
        /// How often it was reached.
        public var reached: Int
        /// How often it did its work: a rule matched, a limit held, a reason passed; of a
        /// variable: how often it was computed.
        public var matched: Int
        /// The places in it, in the order of evaluation.
        public var sites: [Site]

        /// The nodes of its expressions.
        public var nodes: Share {
            let nodes = sites.filter(\.isNode)
            return Share(covered: nodes.count { $0.evaluated > 0 }, total: nodes.count)
        }

        /// Both outcomes of each of its conditions.
        public var branches: Share {
            let conditions = sites.filter(\.isCondition)
            let covered = conditions.reduce(0) {
                $0 + ($1.wasTrue > 0 ? 1 : 0) + ($1.wasFalse > 0 ? 1 : 0)
            }
            return Share(covered: covered, total: conditions.count * 2)
        }
    }

    /// The policy: `name@version`.
    public var policy: String
    /// `trust`, `reviewPrompt` or `plain`.
    public var kind: String
    /// The policy's file.
    public var source: PolicySource
    /// How many tests of the policy ran.
    public var tests: Int
    /// Its parts, in file order.
    public var parts: [Part]

    /// Rules, limits and reasons that did their work at least once.
    public var rules: Share {
        let rules = parts.filter { $0.kind != .variable }
        return Share(covered: rules.count { $0.matched > 0 }, total: rules.count)
    }

    /// All nodes of all expressions.
    public var nodes: Share { parts.reduce(Share()) { $0 + $1.nodes } }

    /// Both outcomes of all conditions.
    public var branches: Share { parts.reduce(Share()) { $0 + $1.branches } }
}

extension [PolicyCoverage] {
    /// Rules of all policies together.
    public var rules: PolicyCoverage.Share { total(\.rules) }
    /// Nodes of all policies together.
    public var nodes: PolicyCoverage.Share { total(\.nodes) }
    /// Branches of all policies together.
    public var branches: PolicyCoverage.Share { total(\.branches) }

    private func total(_ part: (PolicyCoverage) -> PolicyCoverage.Share) -> PolicyCoverage.Share {
        reduce(PolicyCoverage.Share()) { $0 + part($1) }
    }
}

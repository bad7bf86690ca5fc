import CEL

/// Looks for rules that can never match, that overlap, or that make things easier without evidence.
struct RuleOverlap {
    let policy: TrustPolicy
    /// Where each rule stands.
    let ranges: [SourceRange]
    let sink: DiagnosticSink

    private struct Entry {
        let match: Match
        let facts: ConditionFacts
    }

    private var variables: [Int: Variable] {
        Dictionary(
            uniqueKeysWithValues: policy.variables.map { (policy.slots.variable($0.index), $0) })
    }

    func run() { check(policy.rule, around: ConditionFacts(declarationsOf: policy)) }

    private func check(_ block: RuleBlock, around: ConditionFacts) {
        let variables = self.variables
        let entries = block.matches.map { match in
            var facts = around
            if let condition = match.condition {
                facts.add(condition.program, variables: variables)
            }
            return Entry(match: match, facts: facts)
        }
        for (index, entry) in entries.enumerated() {
            let earlier = entries[..<index]
            if entry.facts.isImpossible {
                warnUnreachable(
                    entry, "its condition can never hold",
                    help: "its comparisons exclude each other")
            } else if let taker = taker(of: entry, earlier, block.strategy) {
                warnUnreachable(
                    entry, "`\(taker.match.id)` takes everything that it would match",
                    help: "move it up, narrow the earlier rule, or remove it")
            } else if block.strategy == .firstMatch {
                warnOverlap(entry, earlier)
            }
            checkReduced(entry, others: block.strategy == .firstMatch ? Array(earlier) : entries)
            if case .block(let inner) = entry.match.action { check(inner, around: entry.facts) }
        }
    }

    private func warnUnreachable(_ entry: Entry, _ why: String, help: String) {
        sink.warning(
            .unreachableRule, "the rule `\(entry.match.id)` can never match: \(why)",
            at: ranges[entry.match.index], help: help)
    }

    /// The earlier rule that leaves nothing. Shadow rules never end the search, so they take nothing;
    /// a shadow rule itself is always evaluated.
    private func taker(
        of entry: Entry, _ earlier: ArraySlice<Entry>, _ strategy: Strategy
    ) -> Entry? {
        guard entry.match.mode == .enforce else { return nil }
        switch strategy {
        case .firstMatch:
            return earlier.first {
                $0.match.mode == .enforce && Endings.decidesOnceEntered($0.match)
                    && $0.facts.covers(entry.facts)
            }
        case .strictest:
            // The first default is the one that counts.
            guard entry.match.condition == nil else { return nil }
            return earlier.first { $0.match.mode == .enforce && $0.match.condition == nil }
        }
    }

    private func warnOverlap(_ entry: Entry, _ earlier: ArraySlice<Entry>) {
        guard entry.match.condition != nil, entry.match.mode == .enforce,
            let output = entry.match.output
        else { return }
        let rival = earlier.first { other in
            other.match.mode == .enforce && other.match.condition != nil
                && other.match.output.map { $0 != output } ?? false
                && other.facts.overlaps(entry.facts)
        }
        guard let rival else { return }
        sink.warning(
            .overlappingRules,
            "the rules `\(rival.match.id)` and `\(entry.match.id)` can both match and decide "
                + "differently: their order decides", at: ranges[entry.match.index],
            help: "use `strategy: strictest`, or make the conditions exclude each other")
    }

    /// Lack of evidence is never low risk.
    private func checkReduced(_ entry: Entry, others: [Entry]) {
        guard entry.match.output?.friction == .reduced else { return }
        var facts = entry.facts
        facts.restrict(SlotLayout.Fixed.insightOutcome, to: .strings([Outcome.unknown.rawValue]))
        guard !facts.isImpossible else { return }
        let isTaken = others.contains { other in
            other.match.index != entry.match.index && other.match.mode == .enforce
                && (other.match.output.map { $0.friction > .reduced } ?? false)
                && other.match.condition != nil && other.facts.covers(facts)
        }
        guard !isTaken else { return }
        sink.warning(
            .reducedWhenUnknown,
            "the rule `\(entry.match.id)` reduces friction when the outcome is `unknown`",
            at: ranges[entry.match.index],
            help: "`unknown` is lack of evidence: require `insight.outcome != \"unknown\"`, or "
                + "leave friction unchanged")
    }
}

import CEL

/// Looks for rules that can never match, that say nothing, that overlap, or that make things easier
/// without evidence. Every conclusion holds for all events, whatever the parts of conditions give
/// that are not understood; where reasoning would take too long, none is drawn.
struct RuleOverlap {
    let policy: TrustPolicy
    /// Where each rule stands.
    let ranges: [SourceRange]
    let sink: DiagnosticSink
    private let terms: Terms
    private var reasoner: Reasoner
    private let outcome: Int

    init(policy: TrustPolicy, ranges: [SourceRange], sink: DiagnosticSink) {
        self.policy = policy
        self.ranges = ranges
        self.sink = sink
        terms = Terms()
        reasoner = Reasoner(policy, terms)
        outcome = reasoner.slots[SlotLayout.Fixed.insightOutcome]
    }

    private struct Entry {
        let match: Match
        /// For which events the condition is true.
        let holds: Region
        /// Where the rule may match, where it is reached.
        let may: Region
        /// Where it matches for sure, if it is reached.
        let must: Region
        private let outlines: (holds: Box, may: Box, must: Box)

        init(match: Match, holds: Region, may: Region, must: Region) {
            self.match = match
            self.holds = holds
            self.may = may
            self.must = must
            outlines = (holds.outline, may.outline, must.outline)
        }

        /// Whether the other rule matches wherever this one may.
        func isInside(_ other: Entry, _ terms: Terms) -> Bool {
            (other.must.isEmpty || other.outlines.must.contains(outlines.may, terms.universes))
                && may.isInside(other.must, terms)
        }

        /// Whether it is known at a glance that no event is both here and there.
        func isApart(_ other: Entry) -> Bool {
            !other.outlines.must.overlaps(outlines.may)
                && !other.outlines.holds.overlaps(outlines.holds)
        }

        var isActing: Bool { match.mode == .enforce }
    }

    mutating func run() { check(policy.rule, around: .everything) }

    private mutating func check(_ block: RuleBlock, around: Region) {
        let entries = block.matches.map { entry($0, around) }
        for (index, entry) in entries.enumerated() {
            let earlier = entries[..<index]
            if !warnImpossible(entry, around), !warnTaken(entry, earlier, block.strategy) {
                warnAlways(entry, around)
                switch block.strategy {
                case .firstMatch: warnOverlap(entry, earlier)
                case .strictest: warnIdle(entry, entries)
                }
            }
            checkReduced(entry, others: block.strategy == .firstMatch ? Array(earlier) : entries)
            if case .block(let inner) = entry.match.action { check(inner, around: entry.may) }
        }
    }

    /// A rule that raises friction matches as well where its condition fails.
    private mutating func entry(_ match: Match, _ around: Region) -> Entry {
        guard let condition = match.condition else {
            return Entry(match: match, holds: around, may: around, must: .everything)
        }
        let truth = reasoner.truth(of: condition)
        let notFalse = Region.everything.subtracting(truth.isFalse, terms)
        let mayOnFailure = match.onMissing == .match || match.raisesFriction
        let may = mayOnFailure ? notFalse ?? .everything : truth.isTrue
        // An absent value of the engine's own never makes a rule match.
        let engine = [SlotLayout.Fixed.insightScore, SlotLayout.Fixed.subjectAuthorizationEndsAt]
        let mustOnFailure =
            match.onMissing == .match && match.raisesFriction
            && !condition.deepReads.contains(where: engine.contains)
        return Entry(
            match: match, holds: truth.isTrue.intersection(around, terms) ?? truth.isTrue,
            may: may.intersection(around, terms) ?? may,
            must: mustOnFailure ? notFalse ?? truth.isTrue : truth.isTrue)
    }

    // MARK: Rules that never match

    private func warnUnreachable(_ entry: Entry, _ why: String, help: String) {
        sink.warning(
            .unreachableRule, "the rule `\(entry.match.id)` can never match: \(why)",
            at: ranges[entry.match.index], help: help)
    }

    private mutating func warnImpossible(_ entry: Entry, _ around: Region) -> Bool {
        guard let condition = entry.match.condition, entry.holds.isEmpty, !around.isEmpty else {
            return false
        }
        let isNever = reasoner.truth(of: condition).isTrue.isEmpty
        let why =
            isNever
            ? "its condition can never hold" : "its condition contradicts those around it"
        guard entry.may.isEmpty else {
            sink.warning(
                .unreachableRule,
                "the rule `\(entry.match.id)` can match only where a value is missing: \(why)",
                at: ranges[entry.match.index], help: "its comparisons exclude each other")
            return true
        }
        warnUnreachable(entry, why, help: "its comparisons exclude each other")
        return true
    }

    /// Shadow rules never end the search, so they take nothing; a shadow rule itself is always
    /// evaluated.
    private func warnTaken(
        _ entry: Entry, _ earlier: ArraySlice<Entry>, _ strategy: Strategy
    ) -> Bool {
        guard entry.isActing else { return false }
        let takers: [Entry]
        switch strategy {
        case .firstMatch:
            takers = self.takers(
                of: entry,
                earlier.filter {
                    $0.isActing && Endings.decidesOnceEntered($0.match)
                        // A last match without a condition is asked for, needed or not.
                        && (entry.match.condition != nil || Endings.isUnconditional($0.match))
                })
        case .strictest:
            // The first default is the one that counts.
            guard entry.match.condition == nil else { return false }
            takers = earlier.first { $0.isActing && $0.match.condition == nil }.map { [$0] } ?? []
        }
        guard !takers.isEmpty else { return false }
        let names = takers.map { "`\($0.match.id)`" }
        warnUnreachable(
            entry,
            names.count == 1
                ? "\(names[0]) takes everything that it would match"
                : "\(names.joined(separator: ", ")) together take everything that it would match",
            help: names.count == 1
                ? "move it up, narrow the earlier rule, or remove it"
                : "move it up, narrow the earlier rules, or remove it")
        return true
    }

    /// The earlier rules that leave nothing: one if one is enough.
    private func takers(of entry: Entry, _ earlier: [Entry]) -> [Entry] {
        if let one = earlier.first(where: { entry.isInside($0, terms) }) { return [one] }
        var rest = entry.may
        var takers: [Entry] = []
        for other in earlier where !entry.isApart(other) {
            guard let common = rest.intersection(other.must, terms), !common.isEmpty,
                let left = rest.subtracting(other.must, terms)
            else { continue }
            rest = left
            takers.append(other)
            if rest.isEmpty { return takers }
        }
        return []
    }

    // MARK: Rules that say nothing

    /// A condition written as `true` is meant so.
    private mutating func warnAlways(_ entry: Entry, _ around: Region) {
        guard let condition = entry.match.condition, !around.isEmpty,
            Constants.value(condition.program, condition.program.root) == nil,
            around.isInside(reasoner.truth(of: condition).isTrue, terms)
        else { return }
        sink.warning(
            .alwaysTrue, "the condition of the rule `\(entry.match.id)` always holds",
            at: ranges[entry.match.index],
            help: "leave it out, or compare with what the values can be")
    }

    /// Under `strictest` a rule adds nothing where another one matches too and is as strict. With
    /// an explanation it adds that. A rule that does not raise friction can do more than that by
    /// failing, which keeps others from reducing friction.
    private func warnIdle(_ entry: Entry, _ entries: [Entry]) {
        guard entry.isActing, entry.match.condition != nil, entry.match.explanation == nil,
            entry.match.raisesFriction,
            let output = entry.match.output, !output.steps.contains(.block)
        else { return }
        let stronger = entries.first { other in
            guard other.isActing, other.match.condition != nil,
                other.match.index != entry.match.index, let theirs = other.match.output,
                theirs.covers(output), entry.isInside(other, terms)
            else { return false }
            // Of two that say the same the later one is too many.
            let isMutual = output.covers(theirs) && other.isInside(entry, terms)
            return !isMutual || other.match.index < entry.match.index
        }
        guard let stronger else { return }
        sink.warning(
            .addsNothing,
            "the rule `\(entry.match.id)` adds nothing: `\(stronger.match.id)` matches whenever it "
                + "does and is at least as strict", at: ranges[entry.match.index],
            help: "remove it, make it stricter, or give it an `explanation` of its own")
    }

    // MARK: Rules that overlap

    private func warnOverlap(_ entry: Entry, _ earlier: ArraySlice<Entry>) {
        guard entry.match.condition != nil, entry.isActing, let output = entry.match.output else {
            return
        }
        var rest = entry.holds
        for other in earlier where other.isActing && !entry.isApart(other) {
            if other.match.condition != nil, let theirs = other.match.output, theirs != output,
                let common = rest.intersection(other.holds, terms),
                common.boxes.contains(where: canBe)
            {
                sink.warning(
                    .overlappingRules,
                    "the rules `\(other.match.id)` and `\(entry.match.id)` can both match and decide "
                        + "differently: their order decides", at: ranges[entry.match.index],
                    help: "use `strategy: strictest`, or make the conditions exclude each other")
                return
            }
            // What one rule takes, no later one shares with this rule.
            if Endings.decidesOnceEntered(other.match) {
                rest = rest.subtracting(other.must, terms) ?? rest
            }
        }
    }

    /// Whether there can be an event in a box: its sides are values of the caller or the engine,
    /// and no two of them depend on each other.
    private func canBe(_ box: Box) -> Bool {
        let names = box.sides.keys.map { terms.names[$0] }
        let known = names.compactMap(\.self)
        let count = { (prefix: String) in known.count { $0.hasPrefix(prefix) } }
        return known.count == names.count && count("velocity.") <= 1 && count("insight.") <= 1
    }

    /// Lack of evidence is never low risk.
    private func checkReduced(_ entry: Entry, others: [Entry]) {
        guard entry.match.output?.friction == .reduced else { return }
        let unknown = Region(
            outcome, ValueSet(values: ValueSet.texts([Outcome.unknown.rawValue]), mayFail: false),
            in: terms)
        guard var rest = entry.may.intersection(unknown, terms) else { return }
        for other in others
        where other.match.index != entry.match.index && other.isActing
            && other.match.condition != nil
            && (other.match.output.map { $0.friction > .reduced } ?? false)
        {
            rest = rest.subtracting(other.must, terms) ?? rest
        }
        guard !rest.isEmpty else { return }
        sink.warning(
            .reducedWhenUnknown,
            "the rule `\(entry.match.id)` reduces friction when the outcome is `unknown`",
            at: ranges[entry.match.index],
            help: "`unknown` is lack of evidence: require `insight.outcome != \"unknown\"`, or "
                + "leave friction unchanged")
    }
}

extension DecisionOutput {
    /// Whether this output together with the other is no more than this one.
    fileprivate func covers(_ other: DecisionOutput) -> Bool {
        let both = strictest(with: other)
        return both.friction == friction && both.steps == steps && both.holdFor == holdFor
            && both.notify == notify
    }
}

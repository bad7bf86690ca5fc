import CEL

/// What is checked once a trust policy is read as a whole.
struct PolicyChecks {
    let policy: TrustPolicy
    let fields: Fields
    let reader: RuleTreeReader
    let models: [ModelFile]
    let sink: DiagnosticSink

    func run() {
        checkModelIsNamed()
        checkModelInputs()
        if let entry = fields.entry("rule"), !Endings.alwaysDecides(policy.rule),
            !sink.hasErrors(in: entry.value.range)
        {
            sink.error(
                .endsWithoutMatch, "the policy can end without a match", at: entry.keyRange,
                help: "add a last match without a condition: `- output: {friction: unchanged}`")
        }
        // Doubtful rules are looked for only among rules that mean something.
        guard !sink.hasErrors else { return }
        checkUse()
        checkScore(policy.rule)
        var overlap = RuleOverlap(policy: policy, ranges: reader.ranges, sink: sink)
        overlap.run()
    }

    private func checkModelIsNamed() {
        guard !fields.has("model") else { return }
        let isRead = reader.scope.used.contains { $0 <= SlotLayout.Fixed.insightModelVersion }
        guard isRead else { return }
        sink.error(
            .undeclaredModel, "rules read `insight` but the policy names no `model`",
            at: fields.headRange, help: "add `model: {name: …, version: …, medium: …, high: …}`")
    }

    private var model: ModelFile? {
        guard let reference = policy.model else { return nil }
        return models.first { $0.name == reference.name && $0.version == reference.version }
    }

    /// A model that read an attribute which is not stored could not be run again in a replay.
    private func checkModelInputs() {
        guard let model, let entry = fields.entry("model") else { return }
        for attribute in policy.attributes
        where !attribute.isStored && model.inputs.contains("attributes." + attribute.name) {
            sink.error(
                .notStored,
                "the model reads `attributes.\(attribute.name)`, which is not stored",
                at: entry.keyRange)
        }
        checkRequiredInputs(of: model, at: entry.value.range)
    }

    /// A model that is shared by policies may read what only some of them have; without an input
    /// that it requires it scores nothing.
    private func checkRequiredInputs(of model: ModelFile, at range: SourceRange) {
        let attributes = policy.attributes.map { "attributes." + $0.name }
        let windows = policy.velocity.map { "velocity." + $0.name }
        let known = attributes + windows
        for input in model.requiredInputs where input != "device.value" && !known.contains(input) {
            sink.warning(
                .undeclaredInput,
                "the model requires `\(input)`, which the policy does not declare: it never gives a "
                    + "score", at: range,
                help: NearestName.question(input, among: known)
                    ?? "declare it, or name a model that does without it")
        }
    }

    private func checkUse() {
        let inputs = Set(model?.inputs ?? [])
        let used = reader.scope.used
        let windowed = Set(
            policy.velocity.flatMap { [$0.measure.attribute, $0.by].compactMap(\.self) })
        for (index, attribute) in policy.attributes.enumerated() {
            let isUsed =
                used.contains(policy.slots.attribute(index)) || windowed.contains(attribute.name)
                || inputs.contains("attributes." + attribute.name)
            if !isUsed { warnUnused("attribute", attribute.name, in: "attributes") }
        }
        for (index, window) in policy.velocity.enumerated() {
            let isUsed =
                used.contains(policy.slots.velocity(index))
                || inputs.contains("velocity." + window.name)
            if !isUsed { warnUnused("window", window.name, in: "velocity") }
        }
        for variable in policy.variables where !used.contains(policy.slots.variable(variable.index))
        {
            guard let range = reader.scope.declaration(ofVariable: variable.index) else { continue }
            sink.warning(
                .unused, "the variable `\(variable.name)` is not used", at: range,
                help: "remove it")
        }
    }

    private func warnUnused(_ what: String, _ name: String, in key: String) {
        guard let entry = fields.mapping(key).first(where: { $0.key == name }) else { return }
        sink.warning(
            .unused, "the \(what) `\(name)` is not used", at: entry.keyRange,
            help: what == "attribute"
                ? "what is declared is stored; remove what nothing needs"
                : "remove it")
    }

    /// An absent score makes a condition that needs it not matched, which is seldom meant.
    private func checkScore(_ block: RuleBlock) {
        let score = SlotLayout.Fixed.insightScore
        for match in block.matches {
            if let condition = match.condition, condition.deepReads.contains(score),
                !condition.deepTests.contains(score)
            {
                sink.warning(
                    .scoreMayBeAbsent,
                    "`insight.score` is absent when the model gave no result, then the rule does "
                        + "not match", at: reader.ranges[match.index],
                    help: "use `insight.outcome`, or test `has(insight.score)`")
            }
            if case .block(let inner) = match.action { checkScore(inner) }
        }
    }
}

/// Whether rules always come to a decision.
enum Endings {
    static func alwaysDecides(_ block: RuleBlock) -> Bool {
        block.matches.contains { $0.mode == .enforce && alwaysDecides($0) }
    }

    private static func alwaysDecides(_ match: Match) -> Bool {
        isUnconditional(match) && decidesOnceEntered(match)
    }

    /// Whether a match has no condition, or the literal `true`.
    static func isUnconditional(_ match: Match) -> Bool {
        guard let condition = match.condition else { return true }
        if case .bool(true)? = Constants.value(condition.program, condition.program.root) {
            return true
        }
        return false
    }

    /// Whether a match whose condition holds gives a decision.
    static func decidesOnceEntered(_ match: Match) -> Bool {
        switch match.action {
        case .output: true
        case .block(let inner): alwaysDecides(inner)
        }
    }
}

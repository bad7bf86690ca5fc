import Time

/// Reads `expect:` of a test of a trust policy.
struct ExpectationReader {
    let sink: DiagnosticSink
    let policy: TrustPolicy

    private static let keys = [
        "outcome", "degraded", "friction", "steps", "holdFor", "notify", "matched", "notMatched",
        "notEvaluated", "errored", "explanations",
    ]

    /// Nil where nothing is expected: such a test cannot fail.
    func read(_ test: Fields) -> PolicyTests.Expectation? {
        guard let node = test["expect"], !node.isNull else {
            sink.error(
                .noExpectation, "the test states no expectation",
                at: test.entry("expect")?.keyRange ?? test.headRange,
                help: "add `expect: {friction: …}`")
            return nil
        }
        guard let fields = Fields(node, "an expectation", keys: Self.keys, sink: sink) else {
            return nil
        }
        if fields.entries.isEmpty {
            sink.error(.noExpectation, "the test states no expectation", at: node.range)
        }
        let friction = fields["friction"].flatMap {
            Scalars.name($0, "`friction`", among: Friction.allCases.map(\.name), sink)
        }.flatMap(Friction.init(name:))
        return PolicyTests.Expectation(
            outcome: fields.choice("outcome", Outcome.self), isDegraded: fields.bool("degraded"),
            friction: friction, steps: steps(fields), holdFor: hold(fields),
            notify: fields.has("notify") ? fields.strings("notify").map(\.text) : nil,
            matched: rules(fields, "matched"), notMatched: rules(fields, "notMatched"),
            notEvaluated: rules(fields, "notEvaluated"), errored: rules(fields, "errored"),
            explanations: explanations(fields))
    }

    private func steps(_ fields: Fields) -> StepSet? {
        guard fields.has("steps") else { return nil }
        return StepSet(
            fields.items("steps").compactMap {
                Scalars.name($0, "a step", among: Step.allCases.map(\.name), sink)
                    .flatMap(Step.init(name:))
            })
    }

    private func hold(_ fields: Fields) -> PolicyTests.Expectation.Hold? {
        guard let node = fields["holdFor"] else { return nil }
        if node.isNull || node.scalar?.text == "none" { return PolicyTests.Expectation.Hold.none }
        return fields.duration("holdFor").map { .lasting($0) }
    }

    private func rules(_ fields: Fields, _ key: String) -> [String]? {
        guard fields.has(key) else { return nil }
        let items = fields.strings(key)
        for item in items { checkExists(item.text, item.range) }
        return items.map(\.text)
    }

    private func explanations(_ fields: Fields) -> [PolicyTests.Explanation]? {
        guard fields.has("explanations") else { return nil }
        return fields.mapping("explanations").compactMap { entry in
            checkExists(entry.key, entry.keyRange)
            return Scalars.string(entry.value, "`\(entry.key)`", sink).map {
                PolicyTests.Explanation(rule: entry.key, text: $0)
            }
        }
    }

    private func checkExists(_ rule: String, _ range: SourceRange) {
        let ids = policy.rules.map(\.id)
        guard !ids.contains(rule) else { return }
        sink.error(
            .unknownRule, "the policy has no rule `\(rule)`", at: range,
            help: NearestName.help(rule, among: ids, what: "rules"))
    }
}

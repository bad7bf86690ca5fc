import JSON
import Time

/// Reads a test file of a trust policy.
struct PolicyTestReader {
    let sink: DiagnosticSink
    let policy: TrustPolicy

    func read(_ fields: Fields, reference: String) -> PolicyTests {
        let sections = TestSections(sink: sink).read(fields) { test(in: $0) }
        return PolicyTests(
            policy: reference,
            sections: sections.map { PolicyTests.Section(name: $0.name, tests: $0.tests) },
            path: sink.file)
    }

    private func test(in node: YAMLNode) -> (name: String, test: PolicyTests.Test)? {
        guard
            let fields = Fields(
                node, "a test", keys: ["name", "now", "history", "input", "expect"], sink: sink)
        else { return nil }
        let name = fields.requiredString("name")
        let now =
            fields["now"].map { TestTimes(sink: sink).instant($0, "`now`") }
            ?? PolicyTests.defaultNow
        let input = fields.required("input").flatMap(self.input)
        let history = fields.items("history").compactMap {
            event($0, now: now ?? PolicyTests.defaultNow, category: input?.category)
        }
        let expectation = ExpectationReader(sink: sink, policy: policy).read(fields)
        guard let name, let now, let input, let expectation else { return nil }
        return (
            name,
            PolicyTests.Test(
                name: name, now: now, history: history, input: input, expectation: expectation,
                position: fields.headRange.start)
        )
    }

    private func event(_ node: YAMLNode, now: Instant, category: Category?) -> PolicyTests.Event? {
        guard
            let fields = Fields(
                node, "an earlier event", keys: ["at", "category", "attributes"], sink: sink)
        else { return nil }
        let at = fields.required("at").flatMap {
            TestTimes(sink: sink).moment($0, "`at`", before: now)
        }
        let own = fields.choice("category", Category.self) ?? category
        // An event of another category was judged by another policy, whose attributes these are.
        let isOwn = own.map(policy.categories.contains) ?? true
        let attributes = self.attributes(fields, isDeclared: isOwn)
        guard let at, let own else { return nil }
        return PolicyTests.Event(at: at, category: own, attributes: attributes)
    }

    private func input(_ node: YAMLNode) -> PolicyTests.Input? {
        guard
            let fields = Fields(
                node, "an input",
                keys: ["category", "attributes", "device", "insight", "subject"], sink: sink)
        else { return nil }
        let category = fields.choice("category", Category.self) ?? policy.categories[0]
        if !policy.categories.contains(category), let value = fields["category"] {
            sink.error(
                .badInput, "the policy is not for `\(category.rawValue)`", at: value.range,
                help: "it is for "
                    + policy.categories.map { "`\($0.rawValue)`" }.joined(separator: ", "))
        }
        let attributes = self.attributes(fields, isDeclared: true)
        for declared in policy.attributes
        where !declared.isOptional && !attributes.contains(where: { $0.name == declared.name }) {
            // What was given with a wrong value has been reported already.
            guard !fields.mapping("attributes").contains(where: { $0.key == declared.name }) else {
                continue
            }
            sink.error(
                .badInput, "the input lacks the required attribute `\(declared.name)`",
                at: fields.entry("attributes")?.keyRange ?? fields.headRange)
        }
        let subject = fields["subject"].flatMap {
            Fields($0, "a subject", keys: ["authorization", "authorizationEndsAt"], sink: sink)
        }
        let authorization = subject?["authorization"].flatMap {
            Scalars.name($0, "`authorization`", among: TrustEnvironment.authorizations, sink)
        }
        return PolicyTests.Input(
            category: category, attributes: attributes, deviceValue: deviceValue(fields),
            insight: fields["insight"].flatMap(standIn),
            authorization: authorization ?? "authorized",
            authorizationEndsAt: subject?["authorizationEndsAt"].flatMap {
                TestTimes(sink: sink).instant($0, "`authorizationEndsAt`")
            })
    }

    private func deviceValue(_ fields: Fields) -> Double? {
        guard let node = fields["device"],
            let device = Fields(node, "a device result", keys: ["value"], sink: sink),
            let value = device.required("value"), let number = device.double("value")
        else { return nil }
        guard (0...1).contains(number) else {
            sink.error(.outOfRange, "a device result is 0 to 1, not \(number)", at: value.range)
            return nil
        }
        return number
    }

    private func standIn(_ node: YAMLNode) -> PolicyTests.StandIn? {
        guard
            let fields = Fields(
                node, "an insight", keys: ["outcome", "score", "degraded"], sink: sink),
            fields.required("outcome") != nil,
            let outcome = fields.choice("outcome", Outcome.self)
        else { return nil }
        return PolicyTests.StandIn(
            outcome: outcome, score: fields.double("score"),
            isDegraded: fields.bool("degraded") ?? false)
    }

    private func attributes(_ fields: Fields, isDeclared: Bool) -> [PolicyTests.Attribute] {
        fields.mapping("attributes").compactMap { entry in
            guard let value = Scalars.json(entry.value, sink) else { return nil }
            guard isDeclared else { return PolicyTests.Attribute(name: entry.key, value: value) }
            guard let declaration = policy.attribute(named: entry.key) else {
                sink.error(
                    .badInput, "`\(entry.key)` is not a declared attribute", at: entry.keyRange,
                    help: NearestName.help(
                        entry.key, among: policy.attributes.map(\.name), what: "attributes"))
                return nil
            }
            if case .failure(let refusal) = declaration.check(value) {
                sink.error(
                    .badInput, refusal.message, at: entry.value.range,
                    help: "allowed: " + refusal.allowed.joined(separator: ", "))
                return nil
            }
            return PolicyTests.Attribute(name: entry.key, value: value)
        }
    }
}

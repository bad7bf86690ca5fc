import JSON
import Time

/// Reads a test file of a review-prompt policy.
struct ReviewTestReader {
    let sink: DiagnosticSink
    let policy: ReviewPromptPolicy

    private typealias Tests = ReviewPromptTests

    private static let stepKeys = [
        "at", "donate", "status", "outcome", "reset", "pass", "version", "device", "distribution",
        "attributes", "occurredAt", "reason", "expect", "failing", "nextEligibleAt",
    ]
    private static let actions = ["donate", "status", "outcome", "reset", "pass"]

    func read(_ fields: Fields, reference: String) -> ReviewPromptTests {
        let sections = TestSections(sink: sink).read(fields) { test(in: $0) }
        return ReviewPromptTests(
            policy: reference,
            sections: sections.map { Tests.Section(name: $0.name, tests: $0.tests) })
    }

    private func test(in node: YAMLNode) -> (name: String, test: ReviewPromptTests.Test)? {
        guard
            let fields = Fields(node, "a test", keys: ["name", "subject", "steps"], sink: sink)
        else { return nil }
        let name = fields.requiredString("name")
        let subject = fields["subject"].flatMap {
            Fields($0, "a subject", keys: ["zone", "installedAt"], sink: sink)
        }
        let installedAt = subject?["installedAt"].flatMap {
            TestTimes(sink: sink).instant($0, "`installedAt`")
        }
        let items = fields.required("steps") == nil ? [] : fields.items("steps")
        let steps = items.enumerated().compactMap { step($0.element, isFirst: $0.offset == 0) }
        if steps.count == items.count, steps.allSatisfy(\.expectation.isEmpty) {
            sink.error(
                .noExpectation, "the test states no expectation",
                at: fields.entry("steps")?.keyRange ?? fields.headRange,
                help: "add `expect: ask` or `expect: hold` to a step")
        }
        guard let name else { return nil }
        return (
            name,
            Tests.Test(
                name: name, zone: subject?.string("zone"), installedAt: installedAt, steps: steps)
        )
    }

    private func step(_ node: YAMLNode, isFirst: Bool) -> ReviewPromptTests.Step? {
        guard let fields = Fields(node, "a step", keys: Self.stepKeys, sink: sink) else {
            return nil
        }
        let at = moment(fields, isFirst: isFirst)
        let action = self.action(fields)
        let expectation = self.expectation(fields)
        guard let at, let action, let expectation else { return nil }
        return Tests.Step(
            at: at, action: action, expectation: expectation, line: fields.headRange.start.line)
    }

    private func moment(_ fields: Fields, isFirst: Bool) -> ReviewPromptTests.Moment? {
        guard let node = fields.required("at"), let text = Scalars.string(node, "`at`", sink) else {
            return nil
        }
        if text.hasPrefix("+"), let span = Duration(policyText: text.dropFirst()) {
            guard isFirst else { return .relative(span) }
            sink.error(
                .badInput, "the first step needs a time of its own", at: node.range,
                help: "write `2026-03-01T12:00:00Z`")
            return nil
        }
        if let instant = Instant(rfc3339: text) { return .absolute(instant) }
        sink.error(
            .wrongType, "`at` must be a time or a time after the step before, not `\(text)`",
            at: node.range, help: "write `2026-03-01T12:00:00Z` or `+1m`")
        return nil
    }

    private func action(_ fields: Fields) -> ReviewPromptTests.Action? {
        let given = Self.actions.filter(fields.has)
        guard given.count <= 1 else {
            sink.error(
                .invalidValue, "a step does one thing, not `\(given[0])` and `\(given[1])`",
                at: fields.entry(given[1])?.keyRange ?? fields.headRange)
            return nil
        }
        switch given.first {
        case "donate": return donation(fields, "donate").map(Tests.Action.donate)
        case "status": return donation(fields, "status").map(Tests.Action.status)
        case "outcome":
            guard let node = fields["outcome"],
                let name = Scalars.name(
                    node, "`outcome`", among: ["requested", "notRequested"], sink)
            else { return nil }
            return .outcome(requested: name == "requested", reason: fields.string("reason"))
        case "reset":
            guard let node = fields["reset"] else { return nil }
            return Scalars.name(node, "`reset`", among: ["counts"], sink).map { _ in .reset }
        default: return .pass
        }
    }

    private func donation(_ fields: Fields, _ key: String) -> ReviewPromptTests.Donation? {
        guard let node = fields[key],
            let reason = Scalars.name(node, "`\(key)`", among: policy.donatedNames, sink)
        else { return nil }
        let version = fields.requiredString("version")
        let attributes: JSONObject =
            if let node = fields["attributes"], case .object(let object)? = Scalars.json(node, sink)
            { object } else { JSONObject() }
        let distribution = fields.choice("distribution", ReviewDistribution.self)
        let occurredAt = fields["occurredAt"].flatMap {
            TestTimes(sink: sink).instant($0, "`occurredAt`")
        }
        guard let version else { return nil }
        return Tests.Donation(
            reason: reason, version: version, device: fields.string("device") ?? "device",
            distribution: distribution ?? .appStore, attributes: attributes,
            occurredAt: occurredAt)
    }

    private func expectation(_ fields: Fields) -> ReviewPromptTests.Expectation? {
        var result = Tests.Expectation()
        if let node = fields["expect"] {
            guard let name = Scalars.name(node, "`expect`", among: ["ask", "hold"], sink) else {
                return nil
            }
            result.asks = name == "ask"
        }
        if fields.has("failing") {
            let known =
                ReviewRuleName.reserved + policy.limits.map(\.name) + policy.reasons.map(\.name)
            let items = fields.strings("failing")
            for item in items where !known.contains(item.text) {
                sink.error(
                    .unknownRule, "the policy has no rule `\(item.text)`", at: item.range,
                    help: NearestName.help(item.text, among: known, what: "rules"))
            }
            result.failing = items.map(\.text)
        }
        if let node = fields["nextEligibleAt"] {
            if node.isNull {
                result.nextEligibleAt = .never
            } else if let instant = TestTimes(sink: sink).instant(node, "`nextEligibleAt`") {
                result.nextEligibleAt = .at(instant)
            }
        }
        return result
    }
}

import Engine
import JSON

/// How rules came to their verdicts, as people read it: a tree of sub-expressions with their
/// values, in 100 columns.
enum TraceText {
    /// All rules with their trees. Those for which `isDetailed` is false are one line each.
    static func lines(
        _ trace: PolicyTrace, indent: Int = 2,
        where isDetailed: (PolicyTrace.Rule) -> Bool = { _ in
            true
        }
    ) -> [String] {
        trace.rules.flatMap { lines($0, indent: indent, isDetailed: isDetailed($0)) }
    }

    private static func lines(
        _ rule: PolicyTrace.Rule, indent: Int, isDetailed: Bool
    ) -> [String] {
        let space = String(repeating: " ", count: indent + rule.depth * 2)
        var lines = Layout.beside(
            space + Figures.left(word(rule.verdict), 14),
            rule.name + (rule.isShadow ? "  (shadow: never acts)" : ""))
        let inner = space + "    "
        if let cause = rule.cause { lines += Layout.beside(inner, "because " + cause) }
        if !rule.missing.isEmpty {
            lines += Layout.beside(inner, "missing: " + rule.missing.joined(separator: ", "))
        } else if let error = rule.error {
            lines += Layout.beside(inner, "error: " + error)
        }
        guard isDetailed else { return lines }
        if let condition = rule.condition, rule.verdict != "notEvaluated" || condition.isEvaluated {
            lines += tree(condition, inner)
        }
        if let explanation = rule.explanation {
            lines += Layout.beside(inner, "explained: " + explanation)
        }
        if let output = rule.output { lines += tree(output, inner + "→ ") }
        return lines
    }

    private static func word(_ verdict: String) -> String {
        switch verdict {
        case "notMatched": "not matched"
        case "notEvaluated": "not evaluated"
        default: verdict
        }
    }

    private static func tree(_ node: PolicyTrace.Node, _ indent: String) -> [String] {
        guard node.isEvaluated else { return Layout.row(indent, node.text, "not evaluated") }
        var value = summary(node.values)
        if node.isError { value = "error: " + value }
        if node.isShownBefore { value += "  (see above)" }
        var lines = Layout.row(indent, node.text, value)
        let inner = String(repeating: " ", count: indent.count + 2)
        for child in node.children { lines += tree(child, inner) }
        return lines
    }

    /// Inside of a macro there are several values.
    private static func summary(_ values: [String]) -> String {
        guard values.count > 3 else { return values.joined(separator: ", ") }
        return values.prefix(3).joined(separator: ", ") + ", … (\(values.count))"
    }

    // MARK: JSON

    static func json(_ trace: PolicyTrace) -> JSONValue {
        .array(trace.rules.map(json))
    }

    private static func json(_ rule: PolicyTrace.Rule) -> JSONValue {
        var object: JSONObject = ["rule": .string(rule.name), "verdict": .string(rule.verdict)]
        if rule.isShadow { object["mode"] = "shadow" }
        object["cause"] = rule.cause.map { .string($0) }
        if !rule.missing.isEmpty {
            object["missing"] = .array(rule.missing.map { .string($0) })
        }
        object["error"] = rule.error.map { .string($0) }
        object["condition"] = rule.condition.map(json)
        object["explanation"] = rule.explanation.map { .string($0) }
        object["output"] = rule.output.map(json)
        return .object(object)
    }

    private static func json(_ node: PolicyTrace.Node) -> JSONValue {
        var object: JSONObject = [
            "expression": .string(node.text), "evaluated": .bool(node.isEvaluated),
        ]
        if node.isEvaluated {
            object[node.isError ? "error" : "value"] =
                node.values.count == 1
                ? .string(node.values[0]) : .array(node.values.map { .string($0) })
        }
        if !node.children.isEmpty { object["parts"] = .array(node.children.map(json)) }
        return .object(object)
    }
}

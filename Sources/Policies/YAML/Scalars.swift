import JSON
import Time

/// Reads single nodes as what is wanted, or says what they are instead.
package enum Scalars {
    private static func mismatch(
        _ node: YAMLNode, _ what: String, _ wanted: String, _ sink: DiagnosticSink,
        help: String? = nil, fix: PolicyFix? = nil
    ) {
        // It would be what is wanted but for its quotes, which a message alone does not show.
        let isQuoted = fix != nil
        let given: String =
            if let scalar = node.scalar, !scalar.isNull {
                (isQuoted ? "the text " : "")
                    + "`\(scalar.text.unicodeScalars.count > 60 ? "…" : scalar.text)`"
            } else {
                node.typeName
            }
        sink.error(
            .wrongType, "\(what) must be \(wanted), not \(given)", at: node.range,
            help: help
                ?? fix.flatMap { _ in
                    node.scalar.map { "write `\($0.text)`, without quotes" }
                }, fix: fix)
    }

    /// Where a text would be what is wanted but for its quotes: without them.
    private static func unquoted(_ node: YAMLNode, _ isWanted: (String) -> Bool) -> PolicyFix? {
        guard let scalar = node.scalar, !scalar.isPlain, !scalar.isForcedString,
            scalar.style == .singleQuoted || scalar.style == .doubleQuoted, isWanted(scalar.text)
        else { return nil }
        return PolicyFix(scalar.text, at: node.range)
    }

    /// Any scalar but null is text as written: `1.10` stays `1.10`, `no` stays `no`.
    package static func string(_ node: YAMLNode, _ what: String, _ sink: DiagnosticSink) -> String?
    {
        if let scalar = node.scalar, !scalar.isNull { return scalar.text }
        mismatch(node, what, "text", sink)
        return nil
    }

    package static func bool(_ node: YAMLNode, _ what: String, _ sink: DiagnosticSink) -> Bool? {
        if let scalar = node.scalar, scalar.isPlain {
            if scalar.text == "true" { return true }
            if scalar.text == "false" { return false }
        }
        mismatch(
            node, what, "true or false", sink,
            fix: unquoted(node) { ["true", "false"].contains($0) })
        return nil
    }

    package static func int(
        _ node: YAMLNode, _ what: String, in range: ClosedRange<Int>, _ sink: DiagnosticSink
    ) -> Int? {
        guard let scalar = node.scalar, scalar.isPlain, let value = Int(scalar.text) else {
            mismatch(
                node, what, "a whole number", sink, fix: unquoted(node) { Int($0) != nil })
            return nil
        }
        guard range.contains(value) else {
            let allowed =
                range.upperBound == .max
                ? "at least \(range.lowerBound)"
                : "\(range.lowerBound) to \(range.upperBound)"
            sink.error(.outOfRange, "\(what) must be \(allowed), not \(value)", at: node.range)
            return nil
        }
        return value
    }

    package static func double(_ node: YAMLNode, _ what: String, _ sink: DiagnosticSink) -> Double?
    {
        if let scalar = node.scalar, scalar.isPlain, let value = number(scalar.text) {
            return value
        }
        mismatch(node, what, "a number", sink, fix: unquoted(node) { number($0) != nil })
        return nil
    }

    package static func duration(
        _ node: YAMLNode, _ what: String, _ sink: DiagnosticSink
    ) -> Duration? {
        if let scalar = node.scalar, !scalar.isNull, let value = Duration(policyText: scalar.text) {
            return value
        }
        mismatch(
            node, what, "a duration", sink,
            help: "write a number and a unit: `500ms`, `10s`, `15m`, `24h`, `7d`")
        return nil
    }

    package static func choice<Choice: RawRepresentable & CaseIterable>(
        _ node: YAMLNode, _ what: String, _ type: Choice.Type, _ sink: DiagnosticSink
    ) -> Choice? where Choice.RawValue == String {
        name(node, what, among: Choice.allCases.map(\.rawValue), sink).flatMap(Choice.init)
    }

    /// A text that must be one of the given names.
    package static func name(
        _ node: YAMLNode, _ what: String, among names: [String], _ sink: DiagnosticSink
    ) -> String? {
        guard let text = string(node, what, sink) else { return nil }
        guard names.contains(text) else {
            let allowed = names.map { "`\($0)`" }.joined(separator: ", ")
            sink.error(
                .invalidValue, "\(what) must be one of \(allowed), not `\(text)`", at: node.range,
                help: NearestName.question(text, among: names))
            return nil
        }
        return text
    }

    package static func items(
        _ node: YAMLNode, _ what: String, _ sink: DiagnosticSink
    ) -> [YAMLNode] {
        if case .sequence(let items) = node.content { return items }
        mismatch(node, what, "a list", sink)
        return []
    }

    package static func entries(
        _ node: YAMLNode, _ what: String, _ sink: DiagnosticSink
    ) -> [YAMLEntry] {
        if case .mapping(let entries) = node.content { return entries }
        mismatch(node, what, "a mapping", sink)
        return []
    }

    /// A finite decimal number in JSON's spelling, a leading `+` allowed. Swift's own reader also
    /// takes `inf`, `nan` and hexadecimal, which nobody means here.
    package static func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            text.utf8.contains(where: { (48...57).contains($0) }),
            let value = Double(text), value.isFinite
        else { return nil }
        return value
    }

    /// A node as a JSON value: plain `null`, `true`, `false` and numbers are that, all else text.
    package static func json(_ node: YAMLNode, _ sink: DiagnosticSink) -> JSONValue? {
        switch node.content {
        case .sequence(let items):
            let values = items.compactMap { json($0, sink) }
            return values.count == items.count ? .array(values) : nil
        case .mapping(let entries):
            var members: [(key: String, value: JSONValue)] = []
            for entry in entries {
                guard let value = json(entry.value, sink) else { return nil }
                members.append((entry.key, value))
            }
            return .object(JSONObject(members))
        case .scalar(let scalar): return json(scalar)
        }
    }

    private static func json(_ scalar: YAMLScalar) -> JSONValue {
        guard scalar.isPlain else { return .string(scalar.text) }
        if scalar.isNull { return .null }
        if scalar.text == "true" { return .bool(true) }
        if scalar.text == "false" { return .bool(false) }
        let isWhole = !scalar.text.utf8.contains { ".eE".utf8.contains($0) }
        if isWhole, let value = Int64(scalar.text) { return .int(value) }
        if isWhole, let value = UInt64(scalar.text) { return .uint(value) }
        if let value = number(scalar.text) { return .double(value) }
        return .string(scalar.text)
    }
}

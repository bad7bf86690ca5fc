import Engine
import JSON
import Policies
import Time
import TrustInsights

/// A decision and how it came about, as people read it, in 100 columns.
enum DecisionText {
    static func lines(
        _ record: EvaluationRecord, _ policy: TrustPolicy, _ windows: [WindowContent],
        _ trace: PolicyTrace
    ) -> [String] {
        var lines = decision(record.decision, "decision")
        if let shadow = record.shadowDecision { lines += decision(shadow, "shadow rules") }
        if let shadow = record.shadowPolicy {
            lines += decision(
                shadow.decision, "shadow", "\(shadow.policy.name)@\(shadow.policy.version) would: ")
        }
        lines += insight(record, policy)
        lines += [""] + read(record, policy)
        for window in windows { lines += self.window(window) }
        return lines + ["", "rules, as the policy lists them"] + TraceText.lines(trace)
    }

    private static func head(_ name: String) -> String { Figures.left(name, 14) }

    private static func decision(_ decision: Decision, _ name: String, _ lead: String = "")
        -> [String]
    {
        let output = decision.output
        var text = lead + "friction " + output.friction.name
        let steps = output.steps.steps.map(\.name)
        if !steps.isEmpty { text += "; steps " + steps.joined(separator: ", ") }
        if let hold = output.holdFor { text += "; hold for " + hold.policyText }
        if !output.notify.isEmpty { text += "; notify " + output.notify.joined(separator: ", ") }
        var lines = Layout.beside(head(name), text)
        for reason in decision.reasons {
            var text = "by " + reason.rule
            if let explanation = reason.explanation { text += ": " + explanation }
            if let note = reason.note { text += " (\(words(note)))" }
            lines += Layout.beside(head(""), text)
        }
        return lines
    }

    private static func words(_ force: ForcedResult) -> String {
        switch force {
        case .outcome(let outcome): "the outcome \(outcome.rawValue)"
        case .evaluationError(let code): "the error \(code.rawValue)"
        case .insightError(let error): "the insight's error \(error.rawValue)"
        }
    }

    private static func words(_ note: String) -> String {
        switch note {
        case "blockNeedsOtherEvidence": "not blocked: an insight is not enough for that"
        case "reducedWhileDegraded": "not reduced: the evaluation is degraded"
        default: note
        }
    }

    private static func insight(_ record: EvaluationRecord, _ policy: TrustPolicy) -> [String] {
        let acting = record.acting
        var text = (acting.outcome ?? .unknown).rawValue
        if let score = acting.score, let model = policy.model {
            text +=
                ": score \(Figures.places(score)), medium from \(model.medium), high from \(model.high)"
        }
        // A stated or forced outcome is not the model's.
        if let model = record.model, !acting.contributions.isEmpty {
            text += ", by \(model.name)@\(model.version)"
        }
        var lines = Layout.beside(head("outcome"), text)
        if let cause = acting.degraded {
            lines += Layout.beside(head(""), "degraded: \(cause)")
        }
        if let force = record.force {
            lines += Layout.beside(head(""), "forced by the request: \(words(force))")
        }
        if record.isRefused {
            lines += Layout.beside(
                head(""), "the insight was refused: \(record.authorization.rawValue)")
        }
        for part in acting.contributions {
            lines.append(head("") + Figures.left(part.input, 32) + plus(part.value))
        }
        if !acting.missing.isEmpty {
            lines += Layout.beside(
                head(""), "missing, in no sum: " + acting.missing.joined(separator: ", "))
        }
        return lines
    }

    /// To four places, which is what an eye compares; JSON has them all.
    private static func plus(_ value: Double) -> String {
        (value < 0 ? "-" : "+") + Figures.places(value.magnitude)
    }

    private static func read(_ record: EvaluationRecord, _ policy: TrustPolicy) -> [String] {
        var facts: [String] = ["context.category \(record.category.rawValue)"]
        if let device = record.device { facts.append("device.value \(device.value)") }
        facts += record.attributes.map { "attributes.\($0.name) \(text($0.value))" }
        facts.append("now \(record.receivedAt.rfc3339)")
        var lines = Layout.beside(head("read"), facts[0])
        for fact in facts.dropFirst() { lines += Layout.beside(head(""), fact) }
        let given = Set(record.attributes.map(\.name))
        let absent = policy.attributes.map(\.name).filter { !given.contains($0) }
        if !absent.isEmpty {
            lines += Layout.beside(
                head(""), "not given: " + absent.map { "attributes." + $0 }.joined(separator: ", "))
        }
        return lines
    }

    /// Events that one window lists; the rest is counted.
    private static let listed = 20

    private static func window(_ content: WindowContent) -> [String] {
        let window = content.window
        var text = "velocity.\(window.name) = \(self.text(content.value)): "
        switch window.measure {
        case .count: text += "evaluations"
        case .sum(let attribute): text += "sum of attributes.\(attribute)"
        case .distinct(let attribute): text += "different attributes.\(attribute)"
        }
        text += " of \(window.categories.map(\.rawValue).joined(separator: ", "))"
        if let by = window.by {
            text += " with attributes.\(by) " + (content.group.map(self.text) ?? "of any value")
        }
        text += " in \(window.window.policyText), after \(content.start.rfc3339)"
        var lines = Layout.beside(head("window"), text)
        let left = content.events.count - listed
        if left > 0 { lines.append(head("") + "  (\(Figures.grouped(left)) earlier ones)") }
        let values = values(of: content)
        let width = values.map(\.count).max() ?? 0
        for (event, value) in zip(content.events, values).suffix(listed) {
            var row = "  " + Figures.left(event.at.rfc3339, 26)
            if width > 0 { row += Figures.left(Layout.fit(value, 22), min(width, 22)) + "  " }
            row += event.evaluation?.text ?? ""
            while row.last == " " { row.removeLast() }
            lines.append(Layout.fit(head("") + row, Layout.columns))
        }
        if let recomputed = content.recomputed {
            lines += Layout.beside(
                head(""),
                "  the entries that are left give \(self.text(recomputed)): some were erased")
        }
        return lines
    }

    /// Values that are not stored are numbered: equal ones have one number.
    private static func values(of content: WindowContent) -> [String] {
        var numbers: [String: Int] = [:]
        return content.events.map { event in
            guard case .digest(let digest)? = event.value else {
                return event.value.map(text) ?? ""
            }
            let number = numbers[digest] ?? numbers.count + 1
            numbers[digest] = number
            return "withheld, no. \(number)"
        }
    }

    static func text(_ value: RecordedValue) -> String {
        switch value {
        case .digest: "(withheld)"
        case .value(.bool(let flag)): String(flag)
        case .value(.int(let number)): String(number)
        case .value(.double(let number)): String(number)
        case .value(.string(let text)): JSONValue.string(text).text
        case .value(.timestamp(let instant)): instant.rfc3339
        }
    }

    static func text(_ value: VelocityValue) -> String {
        switch value {
        case .count(let count): String(count)
        case .sum(let sum): String(sum)
        }
    }

    // MARK: JSON

    static func json(_ windows: [WindowContent]) -> JSONValue {
        .array(
            windows.map { content in
                var object: JSONObject = [
                    "name": .string(content.window.name), "value": json(content.value),
                    "after": .string(content.start.rfc3339),
                    "through": .string(content.end.rfc3339),
                    "events": .array(content.events.map(json)),
                ]
                if let by = content.window.by {
                    object["by"] = [
                        "attribute": .string(by), "value": content.group.map(json) ?? .null,
                    ]
                }
                object["recomputed"] = content.recomputed.map(json)
                return .object(object)
            })
    }

    private static func json(_ event: WindowContent.Event) -> JSONValue {
        var object: JSONObject = ["at": .string(event.at.rfc3339)]
        object["evaluationID"] = event.evaluation.map { .string($0.text) }
        object["value"] = event.value.map(json)
        return .object(object)
    }

    private static func json(_ value: VelocityValue) -> JSONValue {
        switch value {
        case .count(let count): .int(count)
        case .sum(let sum): .double(sum)
        }
    }

    private static func json(_ value: RecordedValue) -> JSONValue {
        switch value {
        case .digest: "withheld"
        case .value(.bool(let flag)): .bool(flag)
        case .value(.int(let number)): .int(number)
        case .value(.double(let number)): .double(number)
        case .value(.string(let text)): .string(text)
        case .value(.timestamp(let instant)): .string(instant.rfc3339)
        }
    }

    /// What the model's inputs added.
    static func contributions(_ insight: InsightResult) -> JSONValue {
        .object(JSONObject(insight.contributions.map { ($0.input, .double($0.value)) }))
    }
}

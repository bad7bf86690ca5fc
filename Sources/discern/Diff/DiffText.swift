import JSON
import Policies
import Time
import TrustInsights

/// A comparison as text and as JSON.
enum DiffText {
    static func pretty(_ result: SetComparison) -> String {
        var lines: [String] = []
        for pair in result.pairs {
            switch (pair.old, pair.new) {
            case (let old?, let new?):
                let names =
                    old.policy.reference == new.policy.reference
                    ? old.policy.reference
                    : "\(old.policy.reference) → \(new.policy.reference)"
                let isSame = pair.changes.isEmpty
                lines.append(names + (isSame ? ": no change of meaning" : ""))
            case (let old?, nil): lines.append("\(old.policy.reference): removed")
            case (nil, let new?): lines.append("\(new.policy.reference): added")
            case (nil, nil): break
            }
            lines += pair.changes.flatMap(self.lines)
            if let decisions = pair.decisions { lines += self.lines(decisions) }
        }
        for model in result.models {
            lines.append("model \(model.name)")
            lines += model.changes.flatMap(self.lines)
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ change: PolicyChange) -> [String] {
        let name = change.name.isEmpty ? "" : " \(change.name)"
        let field = change.field.map { ": \($0)" } ?? ""
        var head = "  \(sign(change.kind)) \(change.part)\(name)\(field)"
        if let relation = change.relation { head += " (\(words(relation)))" }
        if let old = change.old, old == change.new {
            return Layout.wrapIfLong(head + ", by a variable that it reads")
                + Layout.beside("        ", old)
        }
        var lines = Layout.wrapIfLong(head)
        if let old = change.old { lines += Layout.beside("      - ", old) }
        if let new = change.new { lines += Layout.beside("      + ", new) }
        return lines
    }

    private static func sign(_ kind: PolicyChange.Kind) -> String {
        switch kind {
        case .added: "+"
        case .removed: "-"
        case .changed: "~"
        }
    }

    private static func words(_ relation: PolicyChange.Relation) -> String {
        switch relation {
        case .equivalent: "equivalent"
        case .narrower: "narrower: it holds for fewer events"
        case .wider: "wider: it holds for more events"
        case .different: "neither narrower nor wider, as far as can be shown"
        }
    }

    private static func lines(_ decisions: DecisionComparison) -> [String] {
        var lines = Layout.wrapIfLong(
            "  decisions: \(Figures.grouped(decisions.changed)) of "
                + "\(Figures.grouped(decisions.evaluations)) differ"
                + (decisions.otherReasons > 0
                    ? ", \(Figures.grouped(decisions.otherReasons)) more have other reasons" : "")
                + (decisions.unjudged > 0
                    ? ", \(Figures.grouped(decisions.unjudged)) only one of them could judge" : ""))
        for (move, count) in decisions.moves.sorted(by: { $0.key < $1.key }) {
            lines.append("    \(Figures.right(Figures.grouped(count), 9))  \(move)")
        }
        for example in decisions.examples {
            lines.append("    \(example.evaluation)  \(example.at.rfc3339)")
            lines += Layout.beside("      - ", text(example.old))
            lines += Layout.beside("      + ", text(example.new))
        }
        return lines
    }

    private static func text(_ decision: Decision) -> String {
        decision.output.text + " by " + decision.reasons.map(\.rule).joined(separator: ", ")
    }

    // MARK: JSON

    static func json(_ result: SetComparison) -> JSONValue {
        let pairs = result.pairs.map { pair -> JSONValue in
            .object([
                "name": .string(pair.name),
                "old": pair.old.map { .string($0.policy.reference) } ?? .null,
                "new": pair.new.map { .string($0.policy.reference) } ?? .null,
                "sameMeaning": .bool(pair.old != nil && pair.new != nil && pair.changes.isEmpty),
                "changes": .array(pair.changes.map(json)),
                "decisions": pair.decisions.map(json) ?? .null,
            ])
        }
        let models = result.models.map { model -> JSONValue in
            .object([
                "name": .string(model.name), "changes": .array(model.changes.map(json)),
            ])
        }
        return .object(["policies": .array(pairs), "models": .array(models)])
    }

    private static func json(_ change: PolicyChange) -> JSONValue {
        .object([
            "kind": .string(change.kind.rawValue), "part": .string(change.part),
            "name": .string(change.name),
            "field": change.field.map(JSONValue.string) ?? .null,
            "old": change.old.map(JSONValue.string) ?? .null,
            "new": change.new.map(JSONValue.string) ?? .null,
            "relation": change.relation.map { .string($0.rawValue) } ?? .null,
        ])
    }

    private static func json(_ decisions: DecisionComparison) -> JSONValue {
        let moves = decisions.moves.sorted { $0.key < $1.key }.map {
            ($0.key, JSONValue.int(Int64($0.value)))
        }
        return .object([
            "evaluations": .int(Int64(decisions.evaluations)),
            "unjudged": .int(Int64(decisions.unjudged)),
            "changed": .int(Int64(decisions.changed)),
            "otherReasons": .int(Int64(decisions.otherReasons)),
            "moves": .object(JSONObject(moves)),
            "examples": .array(
                decisions.examples.map { example in
                    .object([
                        "evaluation": .string(example.evaluation),
                        "at": .string(example.at.rfc3339),
                        "old": json(example.old), "new": json(example.new),
                    ])
                }),
        ])
    }

    private static func json(_ decision: Decision) -> JSONValue {
        .object([
            "output": .string(decision.output.text),
            "reasons": .array(decision.reasons.map { .string($0.rule) }),
        ])
    }
}

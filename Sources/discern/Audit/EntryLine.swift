import JSON

/// An entry of the ledger as one line for people.
enum EntryLine {
    static func text(_ entry: JSONValue) -> String {
        let envelope = entry["envelope"] ?? .null
        let sequence = envelope["sequence"]?.intValue.map(String.init) ?? "?"
        let kind = envelope["kind"]?.stringValue ?? "?"
        let app = envelope["app"]?.stringValue ?? ""
        let owner = app.isEmpty ? "-" : "\(app)/\(envelope["environment"]?.stringValue ?? "")"
        let parts = [
            pad(sequence, 6, left: true), envelope["at"]?.stringValue ?? "?", pad(kind, 13),
            pad(owner, 18),
            entry["payload"].map { summary(kind, $0) } ?? "erased",
        ]
        return parts.joined(separator: "  ")
    }

    private static func summary(_ kind: String, _ payload: JSONValue) -> String {
        let command = payload["command"] ?? .null
        let result = payload["result"] ?? .null
        switch kind {
        case "evaluation":
            let decision = result["decision"] ?? .null
            let steps = (decision["steps"]?.arrayValue ?? []).compactMap(\.stringValue)
            return [
                text(command, "requestID"), text(command, "category"),
                text(result["acting"] ?? .null, "outcome"), "→", text(decision, "friction"),
                steps.joined(separator: "+"), text(decision, "holdFor"),
            ].filter { !$0.isEmpty }.joined(separator: " ")
        case "authorization": return text(command, "category") + " " + text(command, "status")
        case "consumption": return text(command, "evaluationID") + " " + text(command, "status")
        case "label":
            return [
                text(command, "evaluationID"), text(command, "label"), text(command, "category"),
            ].joined(separator: " ")
        case "donation":
            let next = text(result, "nextEligibleAt")
            return text(command["donation"] ?? .null, "reason") + " → "
                + (result["grant"] == nil ? "hold" : "ask")
                + (next.isEmpty ? "" : ", next \(next)")
        case "grantOutcome": return text(command, "grantID") + " " + text(command, "outcome")
        case "sandboxClock": return "+" + text(command, "advance")
        case "app": return text(command, "app")
        case "key":
            let app = text(command, "app")
            let owner = app.isEmpty ? "operator" : app + "/" + text(command, "environment")
            let scopes = (command["scopes"]?.arrayValue ?? []).compactMap(\.stringValue)
            return [
                text(command, "keyID"), owner, scopes.joined(separator: ","), text(command, "name"),
            ]
            .joined(separator: " ")
        case "keyRevocation": return text(command, "keyID")
        case "ledgerFork": return text(command, "reason")
        case "activation":
            let overridden = (result["overridden"]?.arrayValue ?? []).compactMap(\.stringValue)
            return policy(command) + (command["shadow"] == true ? " in shadow" : "")
                + ": " + text(command, "reason")
                + (overridden.isEmpty ? "" : " (in spite of \(overridden.joined(separator: ", ")))")
        case "deactivation":
            return text(command, "policy") + (command["shadow"] == true ? " out of shadow" : "")
                + ": " + text(command, "reason")
        case "erasure":
            let count = result["erased"]?.arrayValue?.count ?? 0
            return "\(count) entries" + (command["reason"] == nil ? "" : ": ")
                + text(command, "reason")
        case "rollback": return text(command, "policy") + ": " + text(command, "reason")
        case "policies":
            let files = command["files"]?.arrayValue?.count ?? 0
            let acting = (result["activations"]?.arrayValue ?? []).map(policy)
            let faults = result["faults"]?.arrayValue?.count ?? 0
            if faults > 0 { return "not loaded: \(faults) faults" }
            return "\(files) files" + (acting.isEmpty ? "" : ", acting: ")
                + acting.joined(separator: " ")
        default: return ""
        }
    }

    private static func policy(_ activation: JSONValue) -> String {
        let policy = activation["policy"] ?? .null
        return text(policy, "name") + "@" + (policy["version"]?.intValue.map(String.init) ?? "?")
    }

    private static func text(_ value: JSONValue, _ name: String) -> String {
        value[name]?.stringValue ?? ""
    }

    private static func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return left ? space + text : text + space
    }
}

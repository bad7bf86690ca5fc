import JSON
import Time

/// Verdicts as an answer shows them: times in RFC 3339, spans in ISO 8601.
extension RuleVerdict {
    /// The verdict as JSON.
    public var json: JSONValue {
        var object: JSONObject = ["rule": .string(rule), "result": .string(result.rawValue)]
        object["cause"] = cause.map { .string($0.rawValue) }
        object["have"] = have?.json
        object["need"] = need?.json
        object["clearsAt"] = clearsAt.map { .string($0.rfc3339) }
        object["detail"] = detail.map { .string($0) }
        if parts.count > 1 {
            object["parts"] = .array(
                parts.map { part in
                    [
                        "reason": .string(part.reason), "have": .int(Int64(part.have)),
                        "need": part.need.json, "met": .bool(part.isMet),
                    ]
                })
        }
        return .object(object)
    }
}

extension ReviewAmount {
    /// A number, or a text for spans and anything else.
    public var json: JSONValue {
        switch self {
        case .count(let count): .int(Int64(count))
        case .days(let days): .int(days)
        case .elapsed(let length): .string(length.iso8601)
        case .text(let text): .string(text)
        }
    }
}

extension ReviewNeed {
    /// `{"atLeast": 3}`, `{"below": 3}`, `{"equal": "appStore"}`.
    public var json: JSONValue {
        switch self {
        case .atLeast(let amount): ["atLeast": amount.json]
        case .below(let amount): ["below": amount.json]
        case .equal(let amount): ["equal": amount.json]
        }
    }
}

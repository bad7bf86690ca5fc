import Engine
import JSON
import Policies
import Time
import TrustInsights

/// One input of `eval`, read as the event of a test.
enum EvalInput {
    static func test(_ json: JSONValue, policy: TrustPolicy) throws(Refusal) -> PolicyTests.Test {
        let input = try FieldReader(json, at: "")
        try input.allowOnly([
            "category", "attributes", "device", "insight", "subject", "now", "history",
        ])
        let now = try input.instant("now") ?? PolicyTests.defaultNow
        let category =
            try input.choice("category", Policies.Category.self) ?? policy.categories.first
            ?? .other
        let device = try input.object("device")
        let subject = try input.object("subject")
        return PolicyTests.Test(
            name: "input", now: now, history: try history(input, now: now, category: category),
            input: PolicyTests.Input(
                category: category, attributes: attributes(try input.object("attributes")),
                deviceValue: try device?.number("value", in: 0...1),
                insight: try input.object("insight").map(standIn),
                authorization: try subject?.choice("authorization", AuthorizationStatus.self)?
                    .rawValue ?? "authorized",
                authorizationEndsAt: try subject?.instant("authorizationEndsAt")),
            expectation: .nothing, position: SourcePosition(line: 1, column: 1))
    }

    private static func attributes(_ object: FieldReader?) -> [PolicyTests.Attribute] {
        (object?.object.members ?? []).map { PolicyTests.Attribute(name: $0.key, value: $0.value) }
    }

    private static func standIn(_ insight: FieldReader) throws(Refusal) -> PolicyTests.StandIn {
        try insight.allowOnly(["outcome", "score", "degraded"])
        return PolicyTests.StandIn(
            outcome: try insight.required("outcome", insight.choice("outcome", Outcome.self)),
            score: try insight.number("score", in: 0...1),
            isDegraded: try insight.bool("degraded") ?? false)
    }

    private static func history(
        _ input: FieldReader, now: Instant, category: Policies.Category
    ) throws(Refusal) -> [PolicyTests.Event] {
        var events: [PolicyTests.Event] = []
        for (index, json) in (try input.array("history", limit: 10_000) ?? []).enumerated() {
            let event = try FieldReader(json, at: "/history/\(index)")
            try event.allowOnly(["at", "category", "attributes"])
            let text = try event.required("at", event.string("at"))
            guard let at = Instant(rfc3339: text) ?? ago(text, now) else {
                throw event.wrong("at", .string(text), ["an RFC 3339 time, or -10m"])
            }
            events.append(
                PolicyTests.Event(
                    at: at,
                    category: try event.choice("category", Policies.Category.self) ?? category,
                    attributes: attributes(try event.object("attributes"))))
        }
        return events
    }

    private static func ago(_ text: String, _ now: Instant) -> Instant? {
        guard text.hasPrefix("-") else { return nil }
        return Duration(policyText: text.dropFirst()).map { now - $0 }
    }
}

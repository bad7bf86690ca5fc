import Engine
import JSON
import Policies
import Time
import TrustInsights

/// One input of `eval`, read as the event of a test.
enum EvalInput {
    /// The input as JSON: the one given, with what options say put into it.
    static func json(_ arguments: Arguments, for policy: TrustPolicy?) throws -> JSONValue {
        var input = try given(arguments) ?? .object(JSONObject())
        if policy != nil {
            for (option, path) in [
                ("device", ["device", "value"]), ("outcome", ["insight", "outcome"]),
                ("score", ["insight", "score"]), ("category", ["category"]),
                ("authorization", ["subject", "authorization"]), ("now", ["now"]),
            ] {
                guard let text = arguments[option] else { continue }
                let isNumber = option == "device" || option == "score"
                input = put(isNumber ? value(text) : .string(text), at: path[...], in: input)
            }
        }
        for setting in arguments.all("set") {
            let parts = setting.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError(
                    "--set needs NAME=VALUE, such as attributes.amount=900, not "
                        + "`\(setting)`")
            }
            let (name, text) = (String(parts[0]), String(parts[1]))
            guard let policy else {
                // A variable of a plain policy may have dots in its name.
                input = put(value(text), at: [name], in: input)
                continue
            }
            let path = name.split(separator: ".").map(String.init)
            let isText =
                path.count == 2 && path[0] == "attributes"
                && [.string, .timestamp].contains(policy.attribute(named: path[1])?.type)
            input = put(isText ? .string(text) : value(text), at: path[...], in: input)
        }
        guard case .object(let object) = input else {
            throw UsageError("--input is an object, not \(input.typeName)")
        }
        guard policy == nil || !object.members.isEmpty else {
            throw UsageError("there is no input: give --input, or values with --set and --device")
        }
        return input
    }

    /// JSON where it is that, else a text.
    private static func value(_ text: String) -> JSONValue {
        (try? JSONReader.parse(Array(text.utf8))) ?? .string(text)
    }

    private static func put(
        _ value: JSONValue, at path: ArraySlice<String>, in json: JSONValue
    ) -> JSONValue {
        guard let name = path.first else { return value }
        var object = json.objectValue ?? JSONObject()
        object[name] = put(value, at: path.dropFirst(), in: object[name] ?? .null)
        return .object(object)
    }

    private static func given(_ arguments: Arguments) throws -> JSONValue? {
        guard let given = arguments["input"] else { return nil }
        let bytes: [UInt8]
        if given == "-" {
            bytes = Files.read("/dev/stdin") ?? []
        } else if given.first == "{" || given.first == "[" {
            bytes = Array(given.utf8)
        } else {
            guard let read = Files.read(given) else {
                throw UsageError("--input: `\(given)` is neither JSON nor a file that can be read")
            }
            bytes = read
        }
        do {
            return try JSONReader.parse(bytes)
        } catch {
            throw UsageError("--input is not JSON: \(error.message)")
        }
    }

    /// The required attributes that the input does not have, with their types.
    static func lacking(_ input: JSONValue, _ policy: TrustPolicy) -> [String] {
        policy.attributes.filter {
            !$0.isOptional && input["attributes"]?[$0.name] == nil
        }.map { "attributes.\($0.name) (\($0.type.rawValue))" }
    }

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

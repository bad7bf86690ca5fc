import CEL
import JSON

/// Values, types and functions as the suite's JSON writes them.
enum ConformanceJSON {
    /// Nil for what only messages and enumerations of the caller's own can be.
    static func value(_ json: JSONValue) -> Value? {
        guard let (kind, content) = json.objectValue?.members.first else { return nil }
        switch kind {
        case "null": return .null
        case "bool": return content.boolValue.map { .bool($0) }
        case "int": return content.stringValue.flatMap { Int64($0) }.map { .int($0) }
        case "uint": return content.stringValue.flatMap { UInt64($0) }.map { .uint($0) }
        case "double": return content.stringValue.flatMap { double($0) }.map { .double($0) }
        case "string": return content.stringValue.map { .string($0) }
        case "bytes": return content.stringValue.flatMap { base64($0) }.map { .bytes($0) }
        case "list":
            let elements = content.arrayValue?.map(value) ?? []
            let known = elements.compactMap { $0 }
            return known.count == elements.count ? .list(known) : nil
        case "map": return map(content)
        case "timestamp":
            guard let (seconds, nanos) = parts(content),
                let timestamp = Timestamp(seconds: seconds, nanoseconds: nanos)
            else { return nil }
            return .timestamp(timestamp)
        case "duration":
            guard let (seconds, nanos) = parts(content),
                let duration = CELDuration(seconds: seconds, nanoseconds: nanos)
            else { return nil }
            return .duration(duration)
        case "type": return content.stringValue.map { .type(named($0)) }
        case "object": return json["cel"].map(value) ?? message(json)
        default: return nil
        }
    }

    private static func parts(_ json: JSONValue) -> (Int64, Int32)? {
        guard let seconds = json["seconds"]?.stringValue.flatMap({ Int64($0) }) else { return nil }
        return (seconds, Int32(json["nanos"]?.intValue ?? 0))
    }

    private static func map(_ json: JSONValue) -> Value? {
        var entries: [ValueMap.Entry] = []
        for pair in json.arrayValue ?? [] {
            guard let pair = pair.arrayValue, pair.count == 2, let key = value(pair[0]),
                let value = value(pair[1])
            else { return nil }
            entries.append(ValueMap.Entry(key: key, value: value))
        }
        return .map(ValueMap(entries))
    }

    private static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: Double(text)
        }
    }

    /// The suite is a trusted input of tests; CEL's own decoders read its bytes and messages.
    private static func evaluated(_ expression: String) -> Value? {
        var activation = Activation(Environment())
        return Environment().compile(expression).program?.evaluate(&activation).value
    }

    private static func base64(_ text: String) -> [UInt8]? {
        if case .bytes(let bytes)? = evaluated("base64.decode('\(text)')") { return bytes }
        return nil
    }

    private static func message(_ json: JSONValue) -> Value? {
        guard let url = json["object"]?.stringValue, let wire = json["wire"]?.stringValue else {
            return nil
        }
        return evaluated(
            "google.protobuf.Any{type_url: '\(url)', value: base64.decode('\(wire)')}")
    }

    private static func named(_ name: String) -> Type {
        switch name {
        case "list": .list(.dyn)
        case "map": .map(.dyn, .dyn)
        default: Type(text: name) ?? .abstract(name, [])
        }
    }

    static func type(_ json: JSONValue) -> Type? {
        if let name = json.stringValue { return name == "error" ? .error : Type(text: name) }
        guard let (kind, content) = json.objectValue?.members.first else { return nil }
        let parts = content.arrayValue?.compactMap(type) ?? []
        switch kind {
        case "list": return type(content).map { .list($0) }
        case "map": return parts.count == 2 ? .map(parts[0], parts[1]) : nil
        case "wrapper": return type(content).map { .wrapper($0) }
        case "message": return content.stringValue.flatMap { Type(text: $0) }
        case "param": return content.stringValue.map { .param($0) }
        case "type": return .type(type(content))
        case "abstract":
            guard let name = content["name"]?.stringValue else { return nil }
            let parameters = content["params"]?.arrayValue?.compactMap(type) ?? []
            return name == "optional_type" && parameters.count == 1
                ? .optional(parameters[0]) : .abstract(name, parameters)
        default: return nil
        }
    }

    static func function(_ name: String, _ json: JSONValue) -> Function {
        let overloads = (json["overloads"]?.arrayValue ?? []).map { overload in
            Function.Overload(
                id: overload["overload_id"]?.stringValue ?? name,
                parameters: overload["params"]?.arrayValue?.compactMap(type) ?? [],
                result: overload["result_type"].flatMap(type) ?? .dyn,
                isMember: overload["is_instance_function"]?.boolValue ?? false)
        }
        return Function(name: name, overloads: overloads)
    }

    static func text(_ json: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(json)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func text(_ outcome: Result<Value, EvaluationError>?, type: Type?) -> String {
        let shownType = type.map { "\($0)" } ?? "no type"
        switch outcome {
        case nil: return shownType
        case .success(let value)?: return "\(value) (\(shownType))"
        case .failure(let error)?: return "error \(error.code): \(error.message)"
        }
    }
}

import CEL

/// The names a plain policy may use.
struct PlainEnvironment {
    let nodes: [YAMLNode]

    /// The variables and functions that `config.yaml` and its like declare. What is wrong in them
    /// shows where the policy uses it: an environment belongs to another program.
    func make() -> Environment {
        var environment = Environment()
        for node in nodes {
            for variable in Self.items(node, "variables") {
                guard let name = Self.text(variable, "name") else { continue }
                let type = Self.value(variable, "type") ?? variable
                // Several files may declare a name; the first one counts.
                _ = try? environment.declare(name, Self.type(type, depth: 0))
            }
            for function in Self.items(node, "functions") {
                guard let name = Self.text(function, "name"),
                    !environment.functions.contains(where: { $0.name == name })
                else { continue }
                environment.declare(
                    Function(
                        name: name,
                        overloads: Self.items(function, "overloads").map(Self.overload)))
            }
        }
        return environment
    }

    /// Only declared: what a function of another program does is not known here.
    private static func overload(_ node: YAMLNode) -> Function.Overload {
        let target = value(node, "target").map { [type($0, depth: 0)] } ?? []
        return Function.Overload(
            id: text(node, "id") ?? "",
            parameters: target + items(node, "args").map { type($0, depth: 0) },
            result: value(node, "return").map { type($0, depth: 0) } ?? .dyn,
            isMember: !target.isEmpty)
    }

    private static func value(_ node: YAMLNode, _ key: String) -> YAMLNode? {
        guard case .mapping(let entries) = node.content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    private static func text(_ node: YAMLNode, _ key: String) -> String? {
        value(node, key)?.scalar?.text
    }

    private static func items(_ node: YAMLNode, _ key: String) -> [YAMLNode] {
        guard case .sequence(let items)? = value(node, key)?.content else { return [] }
        return items
    }

    private static func type(_ node: YAMLNode, depth: Int) -> Type {
        guard depth < 10 else { return .dyn }
        if let name = node.scalar?.text { return named(name, []) }
        guard let name = text(node, "type_name") else { return .dyn }
        return named(name, items(node, "params").map { type($0, depth: depth + 1) })
    }

    private static func named(_ name: String, _ parameters: [Type]) -> Type {
        switch name {
        case "bool": .bool
        case "int": .int
        case "uint": .uint
        case "double": .double
        case "string": .string
        case "bytes": .bytes
        case "null_type": .null
        case "timestamp", "google.protobuf.Timestamp": .timestamp
        case "duration", "google.protobuf.Duration": .duration
        case "list": .list(parameters.first ?? .dyn)
        case "map": .map(parameters.first ?? .dyn, parameters.dropFirst().first ?? .dyn)
        default: .dyn
        }
    }

    /// Without a `config.yaml` every name that occurs may be anything.
    static func anyNames(in rule: YAMLNode, sink: DiagnosticSink) -> Environment {
        var lenient = Environment()
        lenient.checking = .lenient
        var names: Set<String> = []
        collect(rule, &names, lenient, sink)
        var environment = Environment()
        for name in names.sorted() where name != "variables" {
            _ = try? environment.declare(name, .dyn)
        }
        return environment
    }

    private static func collect(
        _ node: YAMLNode, _ names: inout Set<String>, _ environment: Environment,
        _ sink: DiagnosticSink
    ) {
        switch node.content {
        case .scalar(let scalar):
            let map = ScalarMap(scalar, range: node.range, source: sink.text)
            guard map.text.utf8.count <= PolicyLimits.expressionBytes else { return }
            for node in environment.compile(map.text).ast.nodes {
                if case .identifier(let name) = node.kind, !name.hasPrefix(".") {
                    names.insert(name)
                }
            }
        case .sequence(let items):
            for item in items { collect(item, &names, environment, sink) }
        case .mapping(let entries):
            for entry in entries
            where [
                "variables", "match", "rule", "condition", "output", "expression", "explanation",
            ]
            .contains(entry.key) {
                collect(entry.value, &names, environment, sink)
            }
        }
    }
}

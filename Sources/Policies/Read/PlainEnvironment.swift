import CEL

/// The names a plain policy may use.
struct PlainEnvironment {
    let nodes: [YAMLNode]
    /// Functions that the caller has a body for.
    let functions: [Function]

    /// What `config.yaml` and its like declare, all of them together. What is wrong in them shows
    /// where the policy uses it: an environment belongs to another program.
    func make() -> Environment {
        var environment = Environment()
        var extensions: [String: Int] = [:]
        for node in nodes {
            for item in Self.items(node, "extensions") {
                guard let name = Self.text(item, "name") else { continue }
                extensions[name] = max(extensions[name] ?? 0, Self.version(item))
            }
            if let container = Self.text(node, "container") { environment.container = container }
            for item in Self.items(node, "imports") {
                guard let name = Self.text(item, "name"), let short = Imports.shortName(name)
                else { continue }
                environment.abbreviations[short] = name
            }
            for variable in Self.items(node, "variables") {
                guard let name = Self.text(variable, "name") else { continue }
                // Several files may declare a name; the first one counts.
                _ = try? environment.declare(name, Self.type(ofVariable: variable))
            }
            for function in Self.items(node, "functions") { declare(function, in: &environment) }
        }
        environment.extensions = extensions
        return environment
    }

    private static func version(_ node: YAMLNode) -> Int {
        let text = text(node, "version") ?? "0"
        return text == "latest" ? .max : Int(text) ?? 0
    }

    private func declare(_ node: YAMLNode, in environment: inout Environment) {
        guard let name = Self.text(node, "name"),
            !environment.functions.contains(where: { $0.name == name })
        else { return }
        let overloads = Self.items(node, "overloads").map(Self.overload)
        let body = functions.first { $0.name == name }?.body ?? Self.nobody(name)
        environment.declare(Function(name: name, overloads: overloads, body: body))
    }

    private static func nobody(_ name: String) -> Function.Body {
        let message =
            "`\(name)` is declared without a body: only the program that the policy is for can "
            + "call it"
        return { _ in .failure(EvaluationError(.hostFunction, message)) }
    }

    private static func overload(_ node: YAMLNode) -> Function.Overload {
        let target = value(node, "target").map { [type($0, depth: 0)] } ?? []
        return Function.Overload(
            id: text(node, "id") ?? "",
            parameters: target + items(node, "args").map { type($0, depth: 0) },
            result: value(node, "return").map { type($0, depth: 0) } ?? .dyn,
            isMember: !target.isEmpty)
    }

    /// The type stands in the declaration itself, or below `type`.
    private static func type(ofVariable node: YAMLNode) -> Type {
        text(node, "type_name") == nil
            ? value(node, "type").map { type($0, depth: 0) } ?? .dyn : type(node, depth: 0)
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

    /// `{type_name: list, params: […]}`, or short `int` or `list(int)`.
    private static func type(_ node: YAMLNode, depth: Int) -> Type {
        guard depth < 10 else { return .dyn }
        if let text = node.scalar?.text { return named(text) }
        guard let name = text(node, "type_name") else { return .dyn }
        if text(node, "is_type_param") == "true" { return .param(name) }
        let parts = items(node, "params").map { type($0, depth: depth + 1) }
        switch (name, parts.count) {
        case (_, 0): return named(name)
        case ("list", 1): return .list(parts[0])
        case ("map", 2): return .map(parts[0], parts[1])
        case ("optional_type", 1): return .optional(parts[0])
        case ("type", 1): return .type(parts[0])
        default: return .abstract(name, parts)
        }
    }

    /// What a message of another program holds is not known here.
    private static func named(_ text: String) -> Type {
        guard let type = Type(text: text) else { return .dyn }
        if case .abstract(_, []) = type { return .dyn }
        return type
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

import CEL

extension Environment {
    /// Typed, dynamic, optional, nested and computed names, and a function of the host: one of each
    /// kind that the language treats in its own way.
    static func fuzz() -> Environment {
        var environment = Environment()
        environment.limits.memory = 1 << 20
        environment.limits.stringBytes = 1 << 18
        environment.limits.regexMemory = 1 << 16
        let object = ObjectType(
            name: "account",
            fields: [
                .init("age", .int, isOptional: true), .init("name", .string),
                .init("kind", .string, values: ["person", "company"]),
                .init(
                    "limits", .object(ObjectType(name: "limits", fields: [.init("day", .double)]))),
                .init("tags", .list(.string), isOptional: true),
            ])
        environment.declare(
            Function(
                name: "twice",
                overloads: [
                    .init(id: "twice_int", parameters: [.int], result: .int),
                    .init(id: "twice_list", parameters: [.list(.dyn)], result: .list(.dyn)),
                ]
            ) { arguments in
                switch arguments[0] {
                case .int(let value): return .success(.int(value &* 2))
                case .list(let elements): return .success(.list(elements + elements))
                default: return .failure(EvaluationError(.hostFunction, "no int and no list"))
                }
            })
        do {
            try environment.declare("account", .object(object))
            for (name, type) in variables { try environment.declare(name, type) }
            for (name, text) in computed {
                guard let program = environment.compile(text).program else {
                    fail("`\(text)` does not compile")
                }
                try environment.declare(name, computedBy: program)
            }
        } catch {
            fail("\(error)")
        }
        return environment
    }

    /// The first two hold what the input says.
    static let variables: [(name: String, type: Type)] = [
        ("a", .dyn), ("b", .dyn), ("i", .int), ("u", .uint), ("d", .double), ("s", .string),
        ("y", .bytes), ("f", .bool), ("t", .timestamp), ("p", .duration), ("l", .list(.int)),
        ("m", .map(.string, .dyn)), ("o", .optional(.string)),
    ]

    private static let computed = [
        ("lazy.large", "account.limits.day > 100.0"), ("lazy.text", "account.name + s"),
        ("lazy.list", "l.map(x, x + i)"), ("lazy.bad", "lazy.list[5] / 0"),
    ]
}

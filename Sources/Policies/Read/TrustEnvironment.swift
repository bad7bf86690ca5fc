import CEL

/// The names in scope of a trust policy, as slots in the order of ``SlotLayout``.
enum TrustEnvironment {
    /// The statuses of an authorization, as rules see them.
    static let authorizations = [
        "notDetermined", "authorized", "deniedRequestable", "denied", "unavailable",
    ]

    static func make(
        attributes: [AttributeDeclaration], velocity: [VelocityWindow], categories: [Category]
    ) -> Environment {
        var environment = Environment()
        let objects: [(String, [ObjectType.Field])] = [
            (
                "insight",
                [
                    .init("kind", .string),
                    .init("outcome", .string, values: Outcome.names),
                    .init("score", .double, isOptional: true),
                    .init("degraded", .bool),
                    .init("modelVersion", .string),
                ]
            ),
            ("device", [.init("value", .double, isOptional: true)]),
            ("context", [.init("category", .string, values: categories.map(\.rawValue))]),
            (
                "subject",
                [
                    .init("authorization", .string, values: authorizations),
                    .init("authorizationEndsAt", .timestamp, isOptional: true),
                ]
            ),
        ]
        for (name, fields) in objects {
            declare(name, .object(ObjectType(name: name, fields: fields)), &environment)
        }
        declare("now", .timestamp, &environment)
        let facts = attributes.map {
            ObjectType.Field(
                $0.name, type(of: $0.type), isOptional: $0.isOptional, values: $0.values)
        }
        declare("attributes", .object(ObjectType(name: "attributes", fields: facts)), &environment)
        let windows = velocity.map { ObjectType.Field($0.name, $0.isWhole ? .int : .double) }
        declare("velocity", .object(ObjectType(name: "velocity", fields: windows)), &environment)
        return environment
    }

    /// Names were checked to be identifiers and are declared once, so nothing can be refused.
    private static func declare(_ name: String, _ type: Type, _ environment: inout Environment) {
        _ = try? environment.declare(name, type)
    }

    private static func type(of type: AttributeType) -> Type {
        switch type {
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .string: .string
        case .timestamp: .timestamp
        }
    }
}

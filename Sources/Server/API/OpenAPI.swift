import Engine
import JSON

/// The OpenAPI 3.1 document of a route table.
public struct OpenAPI: Sendable {
    private let routes: [Route]
    private let version: String

    /// A document of these routes, for a version of the service.
    public init(routes: [Route], version: String) {
        self.routes = routes
        self.version = version
    }

    /// The document.
    public var json: JSONValue {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Discern",
                "summary": "Decides how much to interrupt a person.",
                "version": .string(version),
            ],
            "paths": .object(paths),
            "components": [
                "securitySchemes": ["key": ["type": "http", "scheme": "bearer"]],
                "schemas": ["Problem": Self.problem],
                "responses": [
                    "Problem": [
                        "description": "Problem details (RFC 9457).",
                        "content": [
                            "application/problem+json": [
                                "schema": ["$ref": "#/components/schemas/Problem"]
                            ]
                        ],
                    ]
                ],
            ],
        ]
    }

    private var paths: JSONObject {
        var paths = JSONObject()
        var order: [String] = []
        for route in routes where !order.contains(route.template.description) {
            order.append(route.template.description)
        }
        for path in order {
            let methods = routes.filter { $0.template.description == path }
            let operations = methods.map { ($0.method.name.lowercased(), operation($0)) }
            paths.members.append(
                (path, .object(JSONObject(operations.map { (key: $0.0, value: $0.1) }))))
        }
        return paths
    }

    private func operation(_ route: Route) -> JSONValue {
        var operation = JSONObject([
            ("operationId", .string(route.name)),
            ("summary", .string(route.summary)),
        ])
        if let scope = route.access.scope {
            operation.members.append(("security", [["key": [.string(scope.rawValue)]]]))
            operation.members.append(("x-key", .string(route.access.keyKind)))
        }
        let parameters =
            route.template.parameters.map { Self.parameter($0, in: "path", .id, true, "") }
            + route.query.map {
                Self.parameter($0.name, in: "query", $0.shape, $0.isRequired, $0.meaning)
            }
        if !parameters.isEmpty { operation.members.append(("parameters", .array(parameters))) }
        if let body = route.body {
            operation.members.append(
                (
                    "requestBody",
                    [
                        "required": true,
                        "content": ["application/json": ["schema": body.schema]],
                    ]
                ))
        }
        operation.members.append(("responses", .object(responses(route))))
        return .object(operation)
    }

    private func responses(_ route: Route) -> JSONObject {
        var responses = JSONObject()
        for answer in route.answers {
            let anything = JSONValue.object(JSONObject())
            let content = JSONObject([(route.contentType, anything)])
            let response: JSONValue = [
                "description": .string(answer.meaning), "content": .object(content),
            ]
            responses.members.append((String(answer.status), response))
        }
        // One response per status, naming the codes that share it.
        let problems = Dictionary(grouping: route.allProblems, by: \.status)
        for status in problems.keys.sorted() where responses[String(status)] == nil {
            let codes = (problems[status] ?? []).map(\.rawValue).joined(separator: ", ")
            responses.members.append(
                (
                    String(status),
                    [
                        "description": .string("Problem: \(codes)."),
                        "content": [
                            "application/problem+json": [
                                "schema": ["$ref": "#/components/schemas/Problem"]
                            ]
                        ],
                    ]
                ))
        }
        responses.members.append(("default", ["$ref": "#/components/responses/Problem"]))
        return responses
    }

    private static func parameter(
        _ name: String, in place: String, _ shape: Shape, _ isRequired: Bool, _ meaning: String
    ) -> JSONValue {
        var parameter = JSONObject([
            ("name", .string(name)), ("in", .string(place)), ("required", .bool(isRequired)),
            ("schema", shape.schema),
        ])
        if !meaning.isEmpty { parameter.members.append(("description", .string(meaning))) }
        return .object(parameter)
    }

    private static var problem: JSONValue {
        [
            "type": "object",
            "required": ["type", "title", "status", "code", "retryable"],
            "properties": [
                "type": ["type": "string", "format": "uri"],
                "title": ["type": "string"],
                "status": ["type": "integer"],
                "code": [
                    "type": "string",
                    "enum": .array(ProblemCode.allCases.map { .string($0.rawValue) }),
                ],
                "detail": ["type": "string"],
                "field": ["type": "string", "description": "JSON pointer, or a query item."],
                "value": [:],
                "allowed": ["type": "array"],
                "retryable": ["type": "boolean"],
                "errors": ["type": "array", "items": ["type": "object"]],
            ],
        ]
    }
}

extension Route {
    /// Its own problems and those that follow from the rest of the row.
    var allProblems: [ProblemCode] {
        var codes: [ProblemCode] = [.malformedRequest, .serverError, .shuttingDown]
        if access != .anyone { codes += [.unauthenticated, .insufficientScope] }
        if body != nil {
            codes += [
                .malformedJSON, .bodyTooLarge, .unsupportedMediaType, .missingField,
                .unknownField, .invalidValue, .queueFull,
            ]
        } else if !query.isEmpty {
            codes += [.missingField, .unknownField, .invalidValue]
        }
        return codes + problems.filter { !codes.contains($0) }
    }
}

extension Route.Access {
    /// The scope that is needed, if a key is.
    var scope: Scope? {
        switch self {
        case .anyone: nil
        case .app(let scope), .operators(let scope), .appOrOperators(let scope): scope
        }
    }

    /// Whose key is needed, for the document.
    var keyKind: String {
        switch self {
        case .anyone: "none"
        case .app: "app"
        case .operators: "operator"
        case .appOrOperators: "app or operator"
        }
    }
}

import Engine
import JSON

/// A row of the route table with what answers it.
public struct Endpoint: Sendable {
    /// The row.
    public var route: Route
    /// Answers a call that has passed every check of the row, at once or later. What it throws
    /// is answered; after that it must not keep the responder.
    public var handle: @Sendable (Call, Responder) throws(Problem) -> Void

    /// A row and its handler.
    public init(
        _ route: Route, handle: @escaping @Sendable (Call, Responder) throws(Problem) -> Void
    ) {
        self.route = route
        self.handle = handle
    }
}

/// A request that has been authenticated and has the shape of its route.
public struct Call: Sendable {
    /// Who asks; nil where the route needs no key.
    public var principal: Principal?
    /// What stands in the gaps of the path, decoded.
    public var parameters: [String: String]
    /// The query's items by name; each occurs once.
    public var query: [String: String]
    /// The body; null where the route takes none.
    public var body: JSONValue
}

/// From an HTTP request to the call of an endpoint, and every refusal on the way.
///
/// The order of checks is fixed: path and method, key, query, body. Nobody without a key learns
/// what a body should look like, and a wrong key costs no parsing.
public final class API: Sendable {
    /// The route table.
    public let router: Router
    private let endpoints: [Endpoint]
    private let authenticator: Authenticator
    private let limits: ServerLimits
    private let log: Log

    /// Checks the table.
    public init(
        _ endpoints: [Endpoint], directory: any KeyDirectory, limits: ServerLimits, log: Log
    ) throws(Router.Fault) {
        router = try Router(endpoints.map(\.route))
        self.endpoints = endpoints
        authenticator = Authenticator(directory)
        self.limits = limits
        self.log = log
    }

    /// The largest body for a path, before anything else is known of a request.
    public func bodyLimit(_ method: HTTPMethod, _ path: String) -> Int {
        guard case .route(let index, _) = router.match(method, path) else {
            return limits.bodyBytes
        }
        return router.routes[index].bodyBytes ?? limits.bodyBytes
    }

    /// The transport's handler.
    public func handle(_ request: HTTPRequest, _ responder: Responder) {
        do throws(Problem) {
            try answer(request, responder)
        } catch {
            // Overload is counted, not logged: a line per refused request would add to it.
            if error.code == .serverError {
                log.error("request failed", [("route", .word(route(request)))])
            }
            responder.answer(error.response)
        }
    }

    /// The name of a request's route, for the log; its path could hold an id.
    private func route(_ request: HTTPRequest) -> String {
        guard case .route(let index, _) = router.match(request.method, request.path) else {
            return "none"
        }
        return router.routes[index].name
    }

    private func answer(_ request: HTTPRequest, _ responder: Responder) throws(Problem) {
        switch router.match(request.method, request.path) {
        case .notFound:
            throw Problem(.notFound, detail: "There is no such path.")
        case .malformed:
            throw Problem(.malformedRequest, detail: "The path's encoding is malformed.")
        case .methodNotAllowed(let methods):
            var problem = Problem(
                .methodNotAllowed, value: .string(String(request.method.name.prefix(32))),
                allowed: methods.map { .string($0) })
            problem.headers = [
                HTTPResponse.Header("Allow", methods.joined(separator: ", "))
            ]
            throw problem
        case .route(let index, let parameters):
            let route = router.routes[index]
            responder.tag(index)
            let principal = try authenticator.principal(
                request.authorization, for: route.access)
            let query = try Self.query(request.query, route)
            let body = try Self.body(request, route)
            try endpoints[index].handle(
                Call(principal: principal, parameters: parameters, query: query, body: body),
                responder)
        }
    }

    private static func query(
        _ items: [QueryItem], _ route: Route
    ) throws(Problem) -> [String: String] {
        var values: [String: String] = [:]
        for item in items {
            guard let field = route.query.first(where: { $0.name == item.name }) else {
                throw Problem(
                    .unknownField, detail: "There is no such query item here.",
                    field: item.name, allowed: route.query.map { .string($0.name) })
            }
            guard values.updateValue(item.value, forKey: item.name) == nil else {
                throw Problem(
                    .invalidValue, detail: "The query item is given twice.", field: item.name)
            }
            if let problem = ShapeCheck.problem(query: item, field.shape) { throw problem }
        }
        for field in route.query where field.isRequired && values[field.name] == nil {
            throw Problem(
                .missingField, detail: "The query item '\(field.name)' is required.",
                field: field.name)
        }
        return values
    }

    private static func body(
        _ request: HTTPRequest, _ route: Route
    ) throws(Problem) -> JSONValue {
        guard let shape = route.body else { return .null }
        if let type = request.contentType, !isAcceptable(type) {
            throw Problem(
                .unsupportedMediaType, value: .string(String(type.prefix(100))),
                allowed: [.string(HTTPResponse.json)])
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.parse(request.body)
        } catch {
            throw Problem(json: error)
        }
        if let problem = ShapeCheck.problem(value, shape) { throw problem }
        return value
    }

    /// JSON, and what clients send when nobody told them a type. Other types are named on
    /// purpose, and their bodies would be read as something they are not.
    private static func isAcceptable(_ contentType: String) -> Bool {
        if contentType == HTTPResponse.json { return true }
        let type = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == HTTPResponse.json || type.hasSuffix("+json") || type == "text/plain"
            || type == "application/x-www-form-urlencoded" || type == "application/octet-stream"
    }
}

extension Problem {
    /// The problem of a body that is not JSON.
    init(json error: JSONError) {
        self.init(
            .malformedJSON, detail: error.message,
            field: error.pointer.isEmpty ? nil : error.pointer)
        members = [
            ("reason", .string(error.code.rawValue)), ("offset", .int(Int64(error.offset))),
        ]
    }
}

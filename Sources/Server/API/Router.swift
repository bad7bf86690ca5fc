/// Finds the row of the route table that a request is for.
public struct Router: Sendable {
    /// The table, as given.
    public let routes: [Route]
    /// Paths without gaps, the frequent ones among them: one look-up.
    private var literal: [String: [Int]] = [:]
    /// The others, the more literal first, by the number of segments.
    private var patterns: [Int: [Int]] = [:]

    /// Why a route table is wrong; a mistake of ours, found when the server starts.
    public enum Fault: Error, Equatable, Sendable {
        /// Two rows take the same method and path.
        case duplicate(String)
        /// Two rows have the same name.
        case duplicateName(String)
    }

    /// What a request is for.
    public enum Match: Sendable, Equatable {
        /// The row of that index, with what stands in the gaps of its path.
        case route(Int, parameters: [String: String])
        /// The path exists with these methods only.
        case methodNotAllowed([String])
        /// There is no such path.
        case notFound
        /// What stands in a gap cannot be decoded.
        case malformed
    }

    /// Checks and indexes a table.
    public init(_ routes: [Route]) throws(Fault) {
        self.routes = routes
        for (index, route) in routes.enumerated() {
            for other in routes[..<index] {
                if other.name == route.name { throw .duplicateName(route.name) }
                if other.method == route.method, other.template.isAmbiguous(with: route.template) {
                    throw .duplicate("\(route.method.name) \(route.template)")
                }
            }
            if route.template.isLiteral {
                literal[route.template.description, default: []].append(index)
            } else {
                patterns[route.template.segments.count, default: []].append(index)
            }
        }
        for count in patterns.keys {
            patterns[count]?.sort { Self.isMoreLiteral(routes[$0].template, routes[$1].template) }
        }
    }

    /// `/a/b/{x}` before `/a/{y}/c`: the first difference decides.
    private static func isMoreLiteral(_ left: PathTemplate, _ right: PathTemplate) -> Bool {
        for (mine, theirs) in zip(left.segments, right.segments) {
            switch (mine, theirs) {
            case (.literal, .parameter): return true
            case (.parameter, .literal): return false
            default: continue
            }
        }
        return false
    }

    /// The row for a request.
    public func match(_ method: HTTPMethod, _ path: String) -> Match {
        let wanted = method == .head ? .get : method
        let exact = literal[path] ?? []
        if let index = exact.first(where: { routes[$0].method == wanted }) {
            return .route(index, parameters: [:])
        }
        let words = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var allowed = exact.map { routes[$0].method }
        for index in patterns[words.count] ?? [] {
            guard let values = routes[index].template.match(words) else { continue }
            guard routes[index].method == wanted else {
                allowed.append(routes[index].method)
                continue
            }
            return decoded(index, values)
        }
        return allowed.isEmpty ? .notFound : .methodNotAllowed(Self.names(allowed))
    }

    private func decoded(_ index: Int, _ values: [Substring]) -> Match {
        var parameters: [String: String] = [:]
        for (name, value) in zip(routes[index].template.parameters, values) {
            guard let text = RequestTarget.decode(value.utf8, plusIsSpace: false) else {
                return .malformed
            }
            parameters[name] = text
        }
        return .route(index, parameters: parameters)
    }

    private static func names(_ methods: [HTTPMethod]) -> [String] {
        var names = Set(methods.map(\.name))
        if names.contains("GET") { names.insert("HEAD") }
        return names.sorted()
    }
}

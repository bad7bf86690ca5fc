import Server
import Testing

@Suite struct RouterTests {
    private func route(_ method: HTTPMethod, _ path: PathTemplate, _ name: String) -> Route {
        Route(method, path, name: name, summary: "", access: .anyone)
    }

    private func router() throws -> Router {
        try Router([
            route(.post, "/v1/evaluations", "evaluate"),
            route(.post, "/v1/evaluations/batch", "evaluateBatch"),
            route(.get, "/v1/evaluations/{id}", "getEvaluation"),
            route(.post, "/v1/evaluations/{id}/consumption", "report"),
            route(.get, "/v1/{kind}/{id}/consumption", "odd"),
            route(.get, "/v1/apps", "listApps"),
            route(.post, "/v1/apps", "addApp"),
        ])
    }

    @Test(arguments: [
        (HTTPMethod.post, "/v1/evaluations", 0, [:]),
        (.post, "/v1/evaluations/batch", 1, [:]),
        (.get, "/v1/evaluations/batch", 2, ["id": "batch"]),
        (.head, "/v1/evaluations/a", 2, ["id": "a"]),
        (.get, "/v1/evaluations/a%2Fb%20c", 2, ["id": "a/b c"]),
        (.post, "/v1/evaluations/a/consumption", 3, ["id": "a"]),
        (.get, "/v1/x/a/consumption", 4, ["kind": "x", "id": "a"]),
        (.post, "/v1/apps", 6, [:]),
    ])
    func aPathFindsItsRow(
        method: HTTPMethod, path: String, index: Int, parameters: [String: String]
    ) throws {
        #expect(try router().match(method, path) == .route(index, parameters: parameters))
    }

    @Test(arguments: [
        "", "/", "/v1", "/v1/evaluations/", "/v1//evaluations", "/v1/evaluations/a/b",
        "/V1/evaluations", "/v1/evaluations//consumption",
    ])
    func otherPathsAreNotFound(path: String) throws {
        #expect(try router().match(.post, path) == .notFound)
    }

    @Test func wrongMethodsAreToldTheRightOnes() throws {
        let router = try router()
        #expect(router.match(.delete, "/v1/apps") == .methodNotAllowed(["GET", "HEAD", "POST"]))
        #expect(router.match(.get, "/v1/evaluations") == .methodNotAllowed(["POST"]))
        #expect(
            router.match(.put, "/v1/evaluations/batch")
                == .methodNotAllowed(["GET", "HEAD", "POST"]))
        #expect(
            router.match(.other("BREW"), "/v1/evaluations/a")
                == .methodNotAllowed(["GET", "HEAD"]))
    }

    @Test(arguments: ["/v1/evaluations/%", "/v1/evaluations/%zz", "/v1/evaluations/%ff"])
    func malformedGapsAreRefused(path: String) throws {
        #expect(try router().match(.get, path) == .malformed)
    }

    @Test func tablesWithTwoRowsForOneRequestAreRefused() {
        #expect(throws: Router.Fault.duplicate("GET /a/{y}")) {
            try Router([route(.get, "/a/{x}", "one"), route(.get, "/a/{y}", "two")])
        }
        #expect(throws: Router.Fault.duplicateName("one")) {
            try Router([route(.get, "/a", "one"), route(.get, "/b", "one")])
        }
    }

    @Test(arguments: ["", "a", "/a/", "//", "/{}", "/{a", "/a}", "/{x}/{x}", "/a?b", "/%61"])
    func malformedTemplatesAreRefused(text: String) {
        #expect(PathTemplate(text) == nil)
    }
}

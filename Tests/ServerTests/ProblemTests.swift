import Engine
import JSON
import Server
import Testing

@Suite struct ProblemTests {
    private func body(_ problem: Problem) throws -> JSONValue {
        try JSONReader.parse(problem.response.body)
    }

    @Test func aProblemSaysWhatWhereAndWhatIsAllowed() throws {
        var problem = Problem(
            .invalidValue, detail: "No.", field: "/labels/0/category", value: "CHARGEBAK",
            allowed: ["chargeback", "mule"])
        problem.members = [("reason", "spelling")]
        let body = try body(problem)
        #expect(problem.response.status == 422)
        #expect(problem.response.contentType == "application/problem+json")
        #expect(body["type"] == "urn:discern:problem:invalidValue")
        #expect(body["status"] == 422)
        #expect(body["code"] == "invalidValue")
        #expect(body["title"]?.stringValue?.isEmpty == false)
        #expect(body["detail"] == "No.")
        #expect(body["field"] == "/labels/0/category")
        #expect(body["value"] == "CHARGEBAK")
        #expect(body["allowed"] == ["chargeback", "mule"])
        #expect(body["retryable"] == false)
        #expect(body["reason"] == "spelling")
    }

    @Test func retryAfterIsAHeader() {
        var problem = Problem(.queueFull)
        problem.retryAfterSeconds = 3
        #expect(problem.response.status == 503)
        #expect(problem.response.headers == [HTTPResponse.Header("Retry-After", "3")])
    }

    /// The statuses that the product promises, so that nobody changes one unawares.
    @Test(arguments: [
        (ProblemCode.notFound, 404), (.expired, 410), (.alreadyReported, 409),
        (.requestIDReused, 422), (.missingField, 422), (.invalidValue, 422),
        (.unknownField, 422), (.clockSkew, 422), (.rateLimitExceeded, 429),
        (.environmentMismatch, 409), (.queueFull, 503), (.contextInvalid, 422), (.denied, 403),
        (.notAvailable, 403), (.localError, 422), (.deviceResultExpired, 422),
        (.payloadSecurityError, 422), (.serverError, 503), (.reportDebt, 429),
        (.accessSuspended, 403), (.labelWindowClosed, 410), (.sandboxOnly, 403), (.erased, 410),
        (.bodyTooLarge, 413), (.methodNotAllowed, 405), (.unauthenticated, 401),
    ])
    func statuses(code: ProblemCode, status: Int) {
        #expect(code.status == status)
    }

    @Test(arguments: [
        (ProblemCode.queueFull, true), (.serverError, true), (.rateLimitExceeded, true),
        (.deviceResultExpired, true), (.reportDebt, false), (.requestIDReused, false),
        (.notFound, false), (.invalidValue, false),
    ])
    func retryability(code: ProblemCode, isRetryable: Bool) {
        #expect(code.isRetryable == isRetryable)
    }

    @Test(arguments: ProblemCode.allCases)
    func everyCodeIsAnError(code: ProblemCode) {
        #expect((400...599).contains(code.status))
        #expect(!code.title.isEmpty)
    }

    @Test(arguments: Refusal.Code.allCases)
    func everyRefusalHasItsCode(code: Refusal.Code) {
        #expect(Problem(Refusal(code, "why")).code.rawValue == code.rawValue)
    }

    @Test func aRefusalKeepsWhatItSays() throws {
        let refusal = Refusal(
            .contextInvalid, "no policy acts", reason: "noPolicy", field: "/context/category",
            value: "other", allowed: ["payment"], isRetryable: true, members: ["decision": ["a": 1]]
        )
        let body = try body(Problem(refusal))
        #expect(body["reason"] == "noPolicy")
        #expect(body["field"] == "/context/category")
        #expect(body["retryable"] == true)
        #expect(body["decision"] == ["a": 1])
        #expect(body["allowed"] == ["payment"])
    }

    @Test func aFullQueueSaysWhenToRetry() {
        #expect(Problem(Refusal(.queueFull, "")).retryAfterSeconds == 1)
    }
}

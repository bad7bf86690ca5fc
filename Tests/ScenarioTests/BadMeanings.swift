import Foundation
import JSON

extension Scenarios.BadInput {
    // Requests of the right shape that mean nothing here, or that nobody may make.

    static var addressed: [Case] {
        let id = "01930000-0000-7000-8000-000000000001"
        return [
            Case("an unknown path", "GET", "/v2/evaluations", gives: 404, "notFound"),
            Case("an unknown path, HEAD", "HEAD", "/v2", gives: 404, "notFound"),
            Case("OPTIONS", "OPTIONS", "/v1/evaluations", gives: 405, "methodNotAllowed"),
            Case("a method nobody has", "BREW", "/v1/labels", gives: 405, "methodNotAllowed"),
            Case("HEAD of a POST", "HEAD", "/v1/evaluations", gives: 405, "methodNotAllowed"),
            Case("DELETE", "DELETE", "/v1/evaluations/\(id)", gives: 405, "methodNotAllowed"),
            Case(
                "bad percent-encoding", "GET", "/v1/evaluations/%zz", gives: 400,
                "malformedRequest"),
            Case(
                "an unknown query item", "GET", "/v1/audit/entries?colour=red", gives: 422,
                "unknownField", "colour"),
            Case(
                "a limit out of range", "GET", "/v1/audit/entries?limit=0", gives: 422,
                "invalidValue", "limit"),
            Case(
                "a raw id in a URL", "GET", "/v1/audit/entries?subject=acct-42", gives: 422,
                "invalidValue", "subject"),
            Case("no such evaluation", "GET", "/v1/evaluations/\(id)", gives: 404, "notFound"),
            Case("no id at all", "GET", "/v1/evaluations/nothing", gives: 404, "notFound"),
            Case("no such entry", "GET", "/v1/audit/entries/999999", gives: 404, "notFound"),
            Case("no number", "GET", "/v1/audit/entries/x", gives: 404, "notFound"),
            Case(
                "a report on nothing", "POST", "/v1/evaluations/\(id)/consumption",
                ["status": "usedIncreasedFriction"], gives: 404, "notFound"),
            Case(
                "a report that names nothing", "POST", "/v1/consumption",
                ["status": "usedIncreasedFriction"], gives: 422, "missingField"),
            Case(
                "a status nobody knows", "POST", "/v1/consumption",
                Requests.report(requestID: "taken", "used"), gives: 422, "invalidValue",
                "/status"),
            Case(
                "a label on nothing", "POST", "/v1/labels",
                Requests.label("l", requestID: "nobody"), gives: 404, "notFound", "/requestID"),
            Case(
                "a misspelt category", "POST", "/v1/labels",
                Requests.label("l", requestID: "taken").with("/category", "CHARGEBAK"),
                gives: 422, "invalidValue", "/category"),
            Case(
                "a label of tomorrow", "POST", "/v1/labels",
                Requests.label("l", requestID: "taken", at: ahead(minutes: 1_440)), gives: 422,
                "clockSkew", "/occurredAt"),
            Case(
                "a grant that is none", "POST", "/v1/review-prompts/grants/\(id)",
                ["outcome": "requested"], gives: 404, "notFound"),
            Case(
                "an unknown reason", "POST", "/v1/review-prompts/donations",
                Requests.donation("k", subject: "s", device: "d", reason: "mood"), gives: 422,
                "invalidValue", "/reason"),
            Case(
                "an unknown zone", "POST", "/v1/review-prompts/donations",
                Requests.donation("k", subject: "s", device: "d")
                    .with("/timeZone", "Mars/Olympus"), gives: 422, "invalidValue", "/timeZone"),
            Case(
                "a donation of tomorrow", "POST", "/v1/review-prompts/donations",
                Requests.donation("k", subject: "s", device: "d")
                    .with("/occurredAt", .string(ahead(minutes: 1_440))), gives: 422,
                "clockSkew",
                "/occurredAt"),
            Case(
                "a clock moved by nothing", "POST", "/v1/sandbox/clock", ["advance": "soon"],
                gives: 422, "invalidValue", "/advance"),
            Case(
                "a clock moved too far", "POST", "/v1/sandbox/clock",
                ["advance": "99999999d"], gives: 422, "invalidValue", "/advance"),
            Case(
                "a clock moved back", "POST", "/v1/sandbox/clock", ["advance": "-1h"],
                gives: 422,
                "invalidValue", "/advance"),
        ]
    }

    static func keys(_ setting: Setting) -> [Case] {
        func with(_ key: String) -> [String: String] { ["Authorization": key] }
        return [
            Case(
                "no key", "POST", "/v1/evaluations", good, headers: with(""), gives: 401,
                "unauthenticated"),
            Case(
                "a foreign key", "POST", "/v1/evaluations", good,
                headers: with("Bearer sk_sandbox_\(String(repeating: "0", count: 64))"),
                gives: 401,
                "unauthenticated"),
            Case(
                "another scheme", "POST", "/v1/evaluations", good,
                headers: with("Basic Zm9vOmJhcg=="), gives: 401, "unauthenticated"),
            Case(
                "no key and a bad body", text: "{", headers: with(""), gives: 401,
                "unauthenticated"),
            Case(
                "a missing scope", "POST", "/v1/labels",
                Requests.label("l", requestID: "taken"),
                headers: with("Bearer \(setting.evaluateOnly)"), gives: 403, "insufficientScope"
            ),
            Case(
                "the operator's key", "POST", "/v1/evaluations", good,
                headers: with("Bearer \(setting.service.operatorKey)"), gives: 403,
                "operatorOnly"),
            Case(
                "an app's key for an operator's call", "GET", "/v1/keys", gives: 403,
                "operatorOnly"),
            Case(
                "force in production", "POST", "/v1/evaluations",
                good.with("/force", ["outcome": "high"]),
                headers: with("Bearer \(setting.production)"), gives: 403, "sandboxOnly",
                "/force"),
            Case(
                "the clock of production", "POST", "/v1/sandbox/clock", ["advance": "1h"],
                headers: with("Bearer \(setting.production)"), gives: 403, "sandboxOnly"),
            Case(
                "an unbound device result in production", "POST", "/v1/evaluations", good,
                headers: with("Bearer \(setting.production)"), gives: 422,
                "payloadSecurityError",
                "/device/requestID"),
            Case(
                "a device result without time in production", "POST", "/v1/evaluations",
                good.with("/device/requestID", "x"),
                headers: with("Bearer \(setting.production)"), gives: 422, "localError",
                "/device/generatedAt"),
        ]
    }

    static var evaluations: [Case] {
        func bad(
            _ name: String, _ pointer: String, _ value: JSONValue?, _ code: String,
            at field: String? = nil, reason: String? = nil
        ) -> Case {
            Case(
                name, "POST", "/v1/evaluations", good.with(pointer, value), gives: 422, code,
                field ?? pointer, reason: reason)
        }
        let attributes = "/context/attributes/"
        return [
            bad(
                "another body under the same requestID", "/requestID", "taken",
                "requestIDReused"),
            bad(
                "6 minutes ahead", "/device/generatedAt", .string(ahead(minutes: 6)),
                "clockSkew"),
            bad(
                "long ago", "/device/generatedAt", "2020-01-01T00:00:00Z",
                "deviceResultExpired"),
            bad(
                "made for another request", "/device/requestID", "other",
                "payloadSecurityError"),
            bad("no device result", "/device", nil, "localError"),
            bad(
                "an undeclared attribute", attributes + "shoeSize", 43, "contextInvalid",
                reason: "unknownAttribute"),
            bad(
                "a missing attribute", attributes + "currency", nil, "contextInvalid",
                reason: "missingAttribute"),
            bad(
                "an attribute of another type", attributes + "amount", "900",
                "contextInvalid", reason: "invalidAttribute"),
            bad(
                "an attribute out of range", attributes + "amount", -1.0, "contextInvalid",
                reason: "invalidAttribute"),
            bad(
                "an attribute too long", attributes + "currency", "EURO", "contextInvalid",
                reason: "invalidAttribute"),
            bad(
                "an attribute within an attribute", attributes + "amount", [1],
                "invalidValue"),
            bad(
                "a category without policy", "/context/category", "other", "contextInvalid",
                reason: "noPolicy"),
            Case(
                "a forced error", "POST", "/v1/evaluations",
                good.with("/force", ["evaluationError": "rateLimitExceeded"]), gives: 429,
                "rateLimitExceeded"),
        ].map { item in
            // Of the one that is taken already, only the amount differs.
            guard item.code == "requestIDReused" else { return item }
            var item = item
            item.body = Requests.evaluation("taken", amount: 901).canonicalBytes
            return item
        }
    }

    static func ahead(minutes: Double) -> String {
        let formatter = ISO8601DateFormatter()
        return formatter.string(from: Date().addingTimeInterval(minutes * 60))
    }
}

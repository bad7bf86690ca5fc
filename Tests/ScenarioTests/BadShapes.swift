import Foundation
import JSON

extension Scenarios.BadInput {
    // Requests that cannot be read, or do not have their call's shape.

    static var good: JSONValue { Requests.evaluation("x") }

    static var unreadable: [Case] {
        func broken(_ name: String, _ text: String, _ reason: String? = nil) -> Case {
            Case(name, text: text, gives: 400, "malformedJSON", reason: reason)
        }
        var invalidUTF8 = Case("invalid UTF-8", gives: 400, "malformedJSON")
        invalidUTF8.body =
            Array(#"{"requestID":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        return [
            broken("no body", ""), broken("cut short", #"{"requestID":"x""#),
            broken("trailing comma", #"{"requestID":"x",}"#),
            broken("two values", "{} {}"), broken("a lone surrogate", #"{"a":"\ud800"}"#),
            broken("a duplicate member", #"{"requestID":"a","requestID":"b"}"#),
            broken("not a number", #"{"device":{"value":NaN}}"#),
            broken("a number out of every range", #"{"device":{"value":1e999}}"#),
            broken(
                "deep nesting",
                String(repeating: "[", count: 100_000)
                    + String(repeating: "]", count: 100_000)),
            broken("deep nesting, open", String(repeating: #"{"a":"#, count: 50_000)),
            invalidUTF8,
            Case(
                "another type of content", text: "<a/>",
                headers: ["Content-Type": "application/xml"], gives: 415, "unsupportedMediaType"
            ),
        ]
    }

    static var misshapen: [Case] {
        func bad(
            _ name: String, _ pointer: String, _ value: JSONValue?, _ code: String,
            at field: String? = nil
        ) -> Case {
            Case(
                name, "POST", "/v1/evaluations", good.with(pointer, value), gives: 422, code,
                field ?? pointer)
        }
        return [
            Case("an array", "POST", "/v1/evaluations", [], gives: 422, "invalidValue", ""),
            bad("no requestID", "/requestID", nil, "missingField"),
            bad("a null requestID", "/requestID", .null, "missingField"),
            bad("a number as requestID", "/requestID", 7, "invalidValue"),
            bad("an empty requestID", "/requestID", "", "invalidValue"),
            bad("control characters", "/requestID", "a\u{0}b", "invalidValue"),
            bad(
                "a long subject", "/subject", .string(String(repeating: "s", count: 10_000)),
                "invalidValue"),
            bad("no category", "/context/category", nil, "missingField"),
            bad("an unknown category", "/context/category", "Payment", "invalidValue"),
            bad("attributes as list", "/context/attributes", [], "invalidValue"),
            bad("an unknown member", "/colour", "red", "unknownField"),
            bad("an unknown member within", "/device/raw", [1, 2], "unknownField"),
            bad("a value above 1", "/device/value", 1.000001, "invalidValue"),
            bad("a value below 0", "/device/value", -0.1, "invalidValue"),
            bad("a huge value", "/device/value", 1e308, "invalidValue"),
            bad("a value as text", "/device/value", "0.97", "invalidValue"),
            bad(
                "no time", "/device/generatedAt", "2026-02-30T00:00:00Z", "invalidValue"),
            bad(
                "an insight of another kind", "/insights", [["kind": "isBot"]],
                "invalidValue", at: "/insights/0/kind"),
            bad(
                "a schema out of range", "/insights",
                [
                    [
                        "kind": "isLikelyBeingCoached",
                        "schema": .uint(18_446_744_073_709_551_615),
                    ]
                ], "invalidValue", at: "/insights/0/schema"),
            bad(
                "two forced results", "/force", ["outcome": "high", "insightError": "x"],
                "invalidValue", at: "/force/insightError"),
        ]
    }
}

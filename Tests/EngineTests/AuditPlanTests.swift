import CEL
import Engine
import Foundation
import Testing
import Time

/// What a filter becomes: bounds for the store, and what is left to evaluate.
@Suite struct AuditPlanTests {
    static let now = Instant(rfc3339: "2026-11-30T12:00:00Z")!

    static func plan(_ filter: String, _ change: (inout EntryQuery) -> Void = { _ in }) throws
        -> AuditPlan
    {
        var query = EntryQuery()
        query.filter = try AuditFilter(filter)
        query.now = now
        change(&query)
        return AuditPlan(query)
    }

    /// Bounds as text: only those that bound something.
    static func text(_ bounds: AuditBounds) -> String {
        var parts: [String] = []
        if !bounds.hasAllKinds { parts.append("kind " + list(bounds.kinds.map(\.rawValue))) }
        if let apps = bounds.apps { parts.append("app " + list(apps)) }
        if bounds.environments.count < 3 { parts.append("env " + list(bounds.environments)) }
        if bounds.erased.count < 2 { parts.append("erased " + list(bounds.erased.map { "\($0)" })) }
        if bounds.first > 1 { parts.append("≥ \(bounds.first)") }
        if bounds.last < .max { parts.append("≤ \(bounds.last)") }
        if bounds.since > .min { parts.append("from \(bounds.since.rfc3339)") }
        if bounds.until < .max { parts.append("to \(bounds.until.rfc3339)") }
        return parts.joined(separator: "; ")
    }

    private static func list(_ names: some Sequence<String>) -> String {
        names.sorted().map { $0.isEmpty ? "-" : $0 }.joined(separator: ",")
    }

    static let cases: [(filter: String, bounds: String, streamed: [String])] = [
        (#"kind == "label""#, "kind label", []),
        (#""label" == kind"#, "kind label", []),
        (#"kind in ["label", "reset"]"#, "kind label,reset", []),
        (#"kind.startsWith("key")"#, "kind key,keyRevocation", []),
        (#"kind == "label" || kind == "reset""#, "kind label,reset", []),
        (#"!(kind != "app")"#, "kind app", []),
        (#"app == "shop""#, "app shop", []),
        (#"app in ["a", "b"] && app == "a""#, "app a", []),
        (#"app != "shop""#, "", [#"app != "shop""#]),
        (#"environment != """#, "env production,sandbox", []),
        ("erased", "erased true", []), ("!erased", "erased false", []),
        ("sequence > 5 && sequence <= 9", "≥ 6; ≤ 9", []),
        ("5 < sequence", "≥ 6", []), ("sequence == 7", "≥ 7; ≤ 7", []),
        ("sequence != 7", "", ["sequence != 7"]), ("sequence > 5.5", "", ["sequence > 5.5"]),
        (
            #"at >= timestamp("2026-11-30T10:00:00Z") && at < timestamp("2026-11-30T11:00:00Z")"#,
            "from 2026-11-30T10:00:00.000Z; to 2026-11-30T10:59:59.999Z", []
        ),
        // Between two milliseconds.
        (
            #"at > timestamp("2026-11-30T10:00:00.0005Z")"#, "from 2026-11-30T10:00:00.001Z", []
        ),
        (
            #"at <= timestamp("2026-11-30T10:00:00.0005Z")"#, "to 2026-11-30T10:00:00.000Z", []
        ),
        (#"at > now - duration("24h")"#, "from 2026-11-29T12:00:00.001Z", []),
        (#"now - at < duration("1h")"#, "", [#"now - at < duration("1h")"#]),
        // No app's clock is behind, and a sandbox's may be ten years ahead.
        (
            #"receivedAt <= now"#, "to 2026-11-30T12:00:00.000Z", ["receivedAt <= now"]
        ),
        (
            #"environment == "production" && receivedAt >= now - duration("1h")"#,
            "env production; from 2026-11-30T11:00:00.000Z",
            [#"receivedAt >= now - duration("1h")"#]
        ),
        (
            #"receivedAt >= now"#, "from 2016-11-22T12:00:00.000Z", ["receivedAt >= now"]
        ),
        // What is implied is a bound, and the whole is evaluated nevertheless.
        (
            #"kind == "label" && label == "retracted" || kind == "reset""#, "kind label,reset",
            [#"kind == "label" && label == "retracted" || kind == "reset""#]
        ),
        (#"kind == "label" || outcome == "high""#, "", [#"kind == "label" || outcome == "high""#]),
        (
            #"outcome == "high" && actor == "k" && sequence > 5"#, "≥ 6",
            [#"actor == "k""#, #"outcome == "high""#]
        ),
        ("true", "", []), ("1 == 2", "kind ", []),
        // An error is no bound.
        ("1 / 0 == 1", "", ["1 / 0 == 1"]),
        (#"at > timestamp("soon")"#, "", [#"at > timestamp("soon")"#]),
        ("sequence > 9223372036854775807", "≥ 9223372036854775807; ≤ -9223372036854775808", []),
    ]

    @Test(arguments: cases) func filtersBecomeBounds(
        _ filter: String, _ bounds: String, _ streamed: [String]
    ) throws {
        let plan = try Self.plan(filter)
        #expect(Self.text(plan.bounds) == bounds)
        #expect(plan.streamed == streamed)
    }

    @Test func whatTheQuerySaysBoundsAsWell() throws {
        let plan = try Self.plan(#"app == "b" || kind == "label""#) {
            $0.app = "a"
            $0.environment = "sandbox"
        }
        #expect(Self.text(plan.bounds) == "app a; env sandbox")
        // A key's own app goes before what the filter says.
        let other = try Self.plan(#"app == "b""#) { $0.app = "a" }
        #expect(other.bounds.isEmpty)
    }

    @Test func payloadsAreReadOnlyForWhatStandsThere() throws {
        #expect(try !Self.plan(#"kind == "label" && actor == "k""#).needsPayload)
        #expect(try Self.plan(#"kind == "label" && actor == "k""#).needsEnvelope)
        #expect(try Self.plan(#"outcome == "high""#).needsPayload)
        #expect(try !Self.plan(#"outcome == "high""#).needsEnvelope)
        #expect(
            try Self.plan(#"attributes.amount > 5.0 && score > 0.5"#).reads
                == [.score, .attributes])
    }

    // MARK: Bad filters

    static let bad: [(filter: String, says: String)] = [
        (
            "outcme == \"high\"",
            """
            filter:1:1: error: undeclared reference to 'outcme' (in container '') [cel.undeclared]
              outcme == "high"
              ^^^^^^
              help: did you mean `outcome`?

            """
        ),
        (
            "sequence > 1 &&\n  kind == \"evalution\"",
            """
            filter:2:11: error: `kind` is never "evalution" [filter.value]
                kind == "evalution"
                        ^^^^^^^^^^^
              help: did you mean `evaluation`?

            """
        ),
        (
            "score",
            """
            filter:1:1: error: a filter is true or false, and this is double [filter.notBool]
              score
              ^^^^^
              help: compare it with something

            """
        ),
    ]

    @Test(arguments: bad) func badFiltersNameThePlace(_ filter: String, _ says: String) {
        let error = #expect(throws: AuditFilterError.self) { try AuditFilter(filter) }
        #expect(error?.description == says)
    }

    static let refused: [(filter: String, code: String)] = [
        ("", "cel.syntax"), ("kind ==", "cel.syntax"), (#"kind == 5"#, "cel.type.overload"),
        (#"label in ["retracted", "wrong"]"#, "filter.value"),
        (#"payload.outcome == "high""#, "cel.undeclared"),
    ]

    @Test(arguments: refused) func whatIsNoFilterIsRefused(_ filter: String, _ code: String) {
        let error = #expect(throws: AuditFilterError.self) { try AuditFilter(filter) }
        #expect(error?.diagnostics.map(\.code) == [code])
    }

    @Test func aFilterHasLimits() throws {
        let terms = Array(repeating: #"actor == "k""#, count: 10_000).joined(separator: " || ")
        let long = #expect(throws: AuditFilterError.self) { try AuditFilter(terms) }
        #expect(long?.message.contains("\(AuditFilter.sourceBytes)") == true)
        let nested =
            String(repeating: "(", count: 500) + "true" + String(repeating: ")", count: 500)
        #expect(throws: AuditFilterError.self) { try AuditFilter(nested) }
        let patterns = (0..<20).map { "actor.matches(\"\($0)+\")" }.joined(separator: "||")
        #expect(throws: AuditFilterError.self) { try AuditFilter(patterns) }
        // As many terms as there is room for are fine.
        let many = Array(repeating: #"app!="k""#, count: 300).joined(separator: "&&")
        #expect(try Self.plan(many).streamed.count == 300)
    }

    // MARK: Cursors and documentation

    @Test func cursorsAreReadAsWritten() {
        for cursor in [
            AuditCursor(sequence: 1, now: nil), AuditCursor(sequence: .max, now: Self.now),
        ] { #expect(AuditCursor(cursor.text) == cursor) }
        for text in ["", "0", "-1", "x", "1-", "1--5", "1-x", "1-2-3", "9223372036854775808", "１"] {
            #expect(AuditCursor(text) == nil, "\(text)")
        }
    }

    @Test func theDocumentationHasEveryVariable() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/audit-queries.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let expected = AuditVariable.allCases.map {
            "| `\($0.rawValue)` | `\($0.type)` | \($0.meaning) |"
        }
        for row in expected { #expect(rows.contains(row), "\(row)") }
    }
}

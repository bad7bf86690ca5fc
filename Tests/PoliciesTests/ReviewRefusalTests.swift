import JSON
import Policies
import Testing
import Time

/// What is refused in review-prompt policies, and what is read from good ones.
@Suite struct ReviewRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: [Expected]
        var testDescription: String { text }

        init(_ text: String, _ expected: Expected...) {
            self.text = text
            self.expected = expected
        }
    }

    private static let done = "reasons: {done: {atLeast: 1}}\n"

    static let cases: [Case] = [
        Case("«1»limit: []\n" + done, Expected(1, "policy.unknownKey", "limit")),
        Case(
            "zone: «1»Olympus\n" + done,
            Expected(1, "policy.invalidValue", "no zone `Olympus`")),
        Case(
            "reasons: «1»{}\n", Expected(1, "policy.outOfRange", "at least one reason")),
        Case(
            "reasons: {done: {atLeast: «1»0}}\n",
            Expected(1, "policy.outOfRange", "must be 1 to")),
        Case(
            "reasons: {done: {«1»within: 7d}}\n",
            Expected(1, "policy.missingKey", "needs one of `atLeast`")),
        Case(
            "reasons: {done: {weighted: {«1»atLeast: 5}}}\n",
            Expected(1, "policy.missingKey", "needs `points`")),
        Case(
            "reasons: {done: {weighted: {«1»points: {done: 1}}}}\n",
            Expected(1, "policy.missingKey", "needs `atLeast`")),
        Case(
            "reasons: {done: {weighted: {points: «1»{}, atLeast: 5}}}\n",
            Expected(1, "policy.outOfRange", "at least one reason")),
        Case(
            "reasons: {done: {weighted: {points: {«1»dnoe: 1}, atLeast: 5}}}\n",
            Expected(1, "policy.undeclaredReason", "no reason `dnoe`")),
        Case(
            "reasons: {done: {weighted: {points: {done: «1»0}, atLeast: 5}}}\n",
            Expected(1, "policy.outOfRange", "must be 1 to 1000")),
        Case(
            "reasons: {done: {weighted: {points: {done: «1»1001}, atLeast: 5}}}\n",
            Expected(1, "policy.outOfRange", "must be 1 to 1000")),
        Case(
            "reasons: {done: {weighted: {points: {done: «1»1.5}, atLeast: 5}}}\n",
            Expected(1, "policy.wrongType", "the points of `done`")),
        Case(
            "reasons: {done: {weighted: {points: {done: 1}, atLeast: «1»101, within: 1d}}}\n",
            Expected(1, "policy.outOfRange", "must be 1 to 100")),
        Case(
            "reasons: {done: {weighted: {points: {done: 1}, atLeast: 5, within: «1»401d}}}\n",
            Expected(1, "policy.outOfRange", "`within` must be")),
        Case(
            "reasons: {done: {distinctDays: 5, within: «1»36h}}\n",
            Expected(1, "policy.invalidValue", "whole days")),
        Case(
            "reasons: {done: {distinctDays: 5, within: «1»4d}}\n",
            Expected(1, "policy.invalidValue", "at least 5")),
        Case(
            "reasons: {done: {atLeast: 1}, two: {any: [{«1»dnoe: 2}]}}\n",
            Expected(1, "policy.undeclaredReason", "no reason `dnoe`")),
        Case(
            "reasons: {«1»reservation: {atLeast: 1}}\n",
            Expected(1, "policy.reservedName", "every policy has")),
        Case(
            "reasons: {done: {atLeast: 1, when: «1»donation.reason}}\n",
            Expected(1, "policy.conditionNotBool", "not `string`")),
        Case(
            "reasons: {done: {atLeast: 1, when: «1»counts.dnoe > 1}}\n",
            Expected(1, "cel.undeclared.field", "dnoe")),
        Case(
            "limits: [{«1»name: a, within: 1d}]\n" + done,
            Expected(1, "policy.missingKey", "needs one of `max`")),
        Case(
            "limits: [{max: «1»0, within: 1d}]\n" + done,
            Expected(1, "policy.outOfRange", "must be 1 to 50")),
        Case(
            "limits: [{name: «1»done, max: 1}]\n" + done,
            Expected(1, "policy.reservedName", "a reason")),
        Case(
            "limits: [{name: a, max: 1}, {name: «1»a, sinceInstall: 1d}]\n" + done,
            Expected(1, "policy.duplicateName", "the limit `a`")),
        Case(
            "limits: [{atLeast: «1»36h, unit: calendarDay}]\n" + done,
            Expected(1, "policy.invalidValue", "whole")),
        Case(
            "limits: [{after: crashed, «1»reason: x, for: 1d}]\n" + done,
            Expected(1, "policy.invalidValue", "`reason` goes with")),
        Case(
            "limits: [{«1»after: crashed}]\n" + done,
            Expected(1, "policy.missingKey", "either `for` or `until`")),
        Case(
            "limits: [{max: 1, within: «1»401d}]\n" + done,
            Expected(1, "policy.outOfRange", "at most")),
        Case(
            "lease: {for: «1»25h}\n" + done, Expected(1, "policy.outOfRange", "a lease")),
        Case(
            "holdout: {percent: «1»101}\n" + done,
            Expected(1, "policy.outOfRange", "0 to 100")),
        Case(
            "afterGrant: {requireMore: «1»0}\n" + done,
            Expected(1, "policy.outOfRange", "must be 1 to")),
        Case(
            "whileThrottled: «1»forget\n" + done,
            Expected(1, "policy.invalidValue", "must be one of")),
    ]

    @Test(arguments: cases) func refuses(_ example: Case) {
        expectFindings(
            in: "kind: reviewPrompt\nname: r\nversion: 1\n" + example.text, example.expected)
    }

    @Test func readsThePolicyOfTheTranscriptApp() throws {
        let load = PolicyLoader().load([try ShippedPolicies.file("transcripts-review.yaml")])
        #expect(load.diagnostics == [], "\(load.rendered())")
        let policy = try #require(load.set?.reviewPromptPolicies.first)
        #expect(policy.zone == .subject)
        #expect(
            policy.limits.map(\.name) == [
                "apple", "version", "interval", "settled", "postponed", "calm",
            ])
        #expect(policy.limits[0].kind == .max(count: 3, within: .days(365), scope: .device))
        #expect(policy.limits[1].kind == .perVersion(count: 1, grain: .full, scope: .both))
        #expect(policy.limits[2].kind == .interval(.calendarDays(7), scope: .both))
        #expect(
            policy.limits[4].kind
                == .suppression(
                    .init(after: .notRequested(reason: "userPostponed"), until: .elapsed(.days(10)))
                ))
        #expect(
            policy.reasons.map(\.requirement) == [
                .count(reason: "finishedTranscript", atLeast: 3, within: nil),
                .count(reason: "exportedVideo", atLeast: 1, within: nil),
                .distinctDays(reason: "activeDay", atLeast: 5, withinDays: 7),
                .any([
                    .count(reason: "finishedTranscript", atLeast: 2, within: nil),
                    .count(reason: "exportedVideo", atLeast: 2, within: nil),
                ]),
            ])
        let when = try #require(policy.reasons[1].when)
        let facts = { (attributes: JSONObject) in
            DonationFacts(
                reason: "exportedVideo", attributes: attributes, version: "1.0",
                counts: [("exportedVideo", 0)], prompts: 0, lastPromptAt: nil, now: .epoch)
        }
        #expect(when.evaluate(facts(["minutes": .int(5)])) == .holds)
        #expect(when.evaluate(facts(["minutes": .double(4.5)])) == .doesNotHold)
        guard case .unknown = when.evaluate(facts([:])) else {
            Issue.record("a missing attribute leaves the condition open")
            return
        }
    }

    @Test func readsSumsOfPointsAlsoAsParts() throws {
        let text = """
            kind: reviewPrompt
            name: r
            version: 1
            reasons:
              done: {weighted: {points: {done: 1, sent: 3}, atLeast: 5}}
              sent: {any: [{done: 2}, {not: {weighted: {points: {sent: 2}, atLeast: 4, within: 7d}}}]}
            """
        let load = PolicyLoader().load([.init(path: "r.yaml", bytes: Array(text.utf8))])
        #expect(load.diagnostics == [], "\(load.rendered())")
        let policy = try #require(load.set?.reviewPromptPolicies.first)
        #expect(
            policy.reasons.map(\.requirement) == [
                .weighted(
                    [ReviewPoints("done", 1), ReviewPoints("sent", 3)], atLeast: 5, within: nil),
                .any([
                    .count(reason: "done", atLeast: 2, within: nil),
                    .not(.weighted([ReviewPoints("sent", 2)], atLeast: 4, within: .days(7))),
                ]),
            ])
        #expect(
            policy.reasons.map(\.requirement.reasons) == [["done", "sent"], ["done", "sent"]])
    }

    /// Whether time alone can change what a condition gives.
    @Test func knowsWhichConditionsReadTheClock() throws {
        for (when, reads) in [
            ("now.getHours() > 8", true), ("[1].all(x, now > timestamp(x))", true),
            ("history.lastPromptAt < timestamp('2026-01-01T00:00:00Z')", false),
            ("donation.attributes.now == 1", false),
        ] {
            let text = """
                {kind: reviewPrompt, name: r, version: 1, reasons: {done: {atLeast: 1, when: "\(when)"}}}
                """
            let load = PolicyLoader().load([.init(path: "r.yaml", bytes: Array(text.utf8))])
            let policy = try #require(load.set?.reviewPromptPolicies.first, "\(load.rendered())")
            #expect(policy.reasons.first?.when?.readsNow == reads, "\(when)")
        }
    }

    @Test func knowsItsZones() {
        let file = PolicyLoader.File(
            path: "r.yaml",
            bytes: Array(
                "{kind: reviewPrompt, name: r, version: 1, zone: Mars/Olympus, reasons: {done: {atLeast: 1}}}"
                    .utf8))
        #expect(PolicyLoader(zones: nil).load([file]).diagnostics == [])
        #expect(
            PolicyLoader(zones: .utc).load([file]).diagnostics.map(\.code)
                == ["policy.invalidValue"])
    }

    @Test func thePresetReproducesTheFaults() {
        let file = PolicyLoader.File(
            path: "r.yaml",
            bytes: Array(
                "{kind: reviewPrompt, name: r, version: 1, preset: treaty, reasons: {done: {atLeast: 1}}}"
                    .utf8))
        #expect(PolicyLoader().load([file]).set?.reviewPromptPolicies.first?.faults == .treaty)
    }
}

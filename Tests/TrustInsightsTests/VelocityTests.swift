import Policies
import Testing
import Time
import TrustInsights

@Suite struct VelocityTests {
    private static let tick = Duration.milliseconds(1)

    private func window(
        _ measure: VelocityWindow.Measure, _ span: Time.Duration, by: String? = nil,
        categories: [Policies.Category] = [.payment]
    ) -> VelocityWindow {
        VelocityWindow(name: "w", measure: measure, categories: categories, by: by, window: span)
    }

    private func event(
        _ at: Instant, _ category: Policies.Category = .payment,
        _ attributes: [String: RecordedValue] = [:]
    ) -> VelocityEvent {
        VelocityEvent(at: at, category: category, attributes: Self.list(attributes))
    }

    private static func list(_ attributes: [String: RecordedValue]) -> [RecordedAttribute] {
        attributes.sorted { $0.key < $1.key }.map {
            RecordedAttribute(name: $0.key, value: $0.value)
        }
    }

    private func money(_ amount: Double, _ currency: String) -> [String: RecordedValue] {
        ["amount": .value(.double(amount)), "currency": .value(.string(currency))]
    }

    /// `(now − W, now]`: what is exactly as old as the window has left it.
    private static let edges: [(age: Time.Duration, count: Int64)] = [
        (.hours(1), 0), (.hours(1) - .milliseconds(1), 1), (.zero, 1), (.milliseconds(1), 1),
        (.hours(1) + .milliseconds(1), 0), (.milliseconds(-1), 0),
    ]

    @Test(arguments: edges) func theEdgeIsHalfOpenToTheMillisecond(age: Time.Duration, count: Int64)
    {
        let value = window(.count, .hours(1)).value(of: [event(noon - age)], at: noon, judging: [])
        #expect(value == .count(count))
    }

    @Test func caseE1_groupIsPartOfTheWindow() {
        // What the person received is no event of theirs; these are two payments in USD, one in EUR.
        let window = window(.sum(attribute: "amount"), .hours(24), by: "currency")
        let count = self.window(.count, .hours(24), by: "currency")
        let events = [event(noon - .hours(2), .payment, money(10, "USD"))]
        let usd = Self.list(money(7, "USD"))
        let eur = Self.list(money(7, "EUR"))
        #expect(count.value(of: VelocityEvents(events), at: noon, judging: usd) == .count(1))
        #expect(window.value(of: VelocityEvents(events), at: noon, judging: usd) == .sum(10))
        #expect(window.value(of: VelocityEvents(events), at: noon, judging: eur) == .sum(0))
        #expect(
            self.window(.count, .hours(24)).value(
                of: VelocityEvents(events), at: noon, judging: eur) == .count(1))
    }

    @Test func groupsByWhatIsAbsentAreAGroupToo() {
        let window = window(.count, .hours(1), by: "currency")
        let events = [
            event(noon - .minutes(3)), event(noon - .minutes(2), .payment, money(1, "EUR")),
            event(noon - .minutes(1)),
        ]
        #expect(window.value(of: VelocityEvents(events), at: noon, judging: []) == .count(2))
        #expect(
            window.value(of: VelocityEvents(events), at: noon, judging: Self.list(money(1, "EUR")))
                == .count(1))
        #expect(
            window.value(of: VelocityEvents(events), at: noon, judging: Self.list(money(1, "GBP")))
                == .count(0))
    }

    @Test func caseE2_eventsOfTheFutureNeverCount() {
        let siblings = (1...9).map { event(noon - .hours(2) - .minutes(60 - $0)) }
        let events = siblings + [event(noon + .days(1))]
        let window = window(.count, .hours(1))
        #expect(
            window.value(of: VelocityEvents(events), at: noon - .hours(2), judging: []) == .count(9)
        )
        #expect(window.value(of: VelocityEvents(events), at: noon, judging: []) == .count(0))
    }

    @Test func caseE5_T30_anEventCountsInItsOwnHour() {
        // Of 10:59:59; looked at a second later and at 11:59:58.999 and 11:59:59.
        let at = instant("2026-11-30T10:59:59Z")
        let window = window(.count, .hours(1))
        for (now, count) in [
            (at + .seconds(2), 1 as Int64), (at + .hours(1) - Self.tick, 1), (at + .hours(1), 0),
        ] {
            #expect(window.value(of: [event(at)], at: now, judging: []) == .count(count))
        }
    }

    @Test func caseE6_twoDeliveriesOfOneAreOne() {
        let window = window(.distinct(attribute: "payee"), .hours(1))
        let events = ["a", "b", "a"].map {
            event(noon - .minutes(1), .payment, ["payee": .digest($0)])
        }
        #expect(window.value(of: VelocityEvents(events), at: noon, judging: []) == .count(2))
    }

    @Test func caseE7_fourSecondsHoldFourEvents() {
        let window = window(.count, .seconds(4))
        let events = (0..<60).map { event(noon + .seconds($0)) }
        for now in stride(from: Int64(4), to: 60, by: 4) {
            #expect(
                window.value(of: VelocityEvents(events), at: noon + .seconds(now), judging: [])
                    == .count(4),
                "at second \(now)")
            // Between two events the same number: one came in for each that left.
            #expect(
                window.value(
                    of: VelocityEvents(events), at: noon + .seconds(now) + .milliseconds(999),
                    judging: [])
                    == .count(4))
            #expect(
                window.value(
                    of: VelocityEvents(events), at: noon + .seconds(now) - Self.tick, judging: [])
                    == .count(4))
        }
    }

    @Test(arguments: [2, 3, 7] as [Int64]) func caseE8_overIsALevel(limit: Int64) {
        let window = window(.count, .seconds(300))
        var events: [VelocityEvent] = []
        for index in 0..<10 as Range<Int64> {
            let now = noon + .seconds(index)
            guard
                case .count(let earlier) = window.value(
                    of: VelocityEvents(events), at: now, judging: [])
            else {
                Issue.record("no count")
                return
            }
            #expect((earlier + 1 > limit) == (index + 1 > limit), "event \(index)")
            events.append(event(now))
        }
    }

    @Test func onlyTheCategoriesNamedCount() {
        let events = Policies.Category.allCases.map { event(noon - .minutes(1), $0) }
        #expect(
            window(.count, .hours(1)).value(of: VelocityEvents(events), at: noon, judging: [])
                == .count(1))
        #expect(
            window(.count, .hours(1), categories: [.payment, .account])
                .value(of: VelocityEvents(events), at: noon, judging: []) == .count(2))
        #expect(
            window(.count, .hours(1), categories: []).value(
                of: VelocityEvents(events), at: noon, judging: [])
                == .count(0))
    }

    @Test func distinctTellsValuesAndTypesApart() {
        let values: [RecordedValue] = [
            .value(.string("1")), .value(.int(1)), .value(.double(1)), .value(.bool(true)),
            .value(.timestamp(noon)), .digest("1"), .digest("2"), .value(.string("1")),
        ]
        let events = values.map { event(noon, .payment, ["x": $0]) } + [event(noon)]
        #expect(
            window(.distinct(attribute: "x"), .hours(1)).value(
                of: VelocityEvents(events), at: noon, judging: [])
                == .count(7))
    }

    @Test func sumsLeaveOutWhatIsAbsentOrNoNumber() {
        let events = [
            event(noon, .payment, ["x": .value(.int(2))]),
            event(noon, .payment, ["x": .value(.double(0.5))]),
            event(noon, .payment, ["x": .value(.string("9"))]),
            event(noon, .payment, ["x": .digest("9")]), event(noon),
        ]
        #expect(
            window(.sum(attribute: "x"), .hours(1)).value(
                of: VelocityEvents(events), at: noon, judging: [])
                == .sum(2.5))
    }

    @Test func sumsAreTheSameInAnyOrderOfEqualInstants() {
        let amounts = [1e16, 0.1, -1e16, 0.2, 1e308, 1e308, -1e308, -1e308]
        var results = Set<VelocityValue>()
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20 {
            let events = amounts.shuffled(using: &random).map {
                event(noon, .payment, ["x": .value(.double($0))])
            }
            results.insert(
                window(.sum(attribute: "x"), .hours(1)).value(
                    of: VelocityEvents(events), at: noon, judging: []))
        }
        #expect(results == [.sum(0.30000000000000004)])
    }

    /// Against the definition, one event at a time.
    @Test(arguments: 0..<30) func agreesWithTheDefinition(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var at = noon
        var events: [VelocityEvent] = []
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            at = at + .milliseconds(Int64.random(in: 0...3, using: &random))
            events.append(
                event(
                    at, Bool.random(using: &random) ? .payment : .account,
                    Bool.random(using: &random)
                        ? [:] : ["g": .value(.int(Int64.random(in: 0...2, using: &random)))]))
        }
        let span = Duration.milliseconds(Int64.random(in: 1...20, using: &random))
        let now = noon + .milliseconds(Int64.random(in: 0...80, using: &random))
        let group = [RecordedAttribute(name: "g", value: .value(.int(1)))]
        let expected = events.filter {
            $0.category == .payment && $0.attributes == group
                && $0.at.milliseconds > now.milliseconds - span.milliseconds
                && $0.at.milliseconds <= now.milliseconds
        }.count
        #expect(
            window(.count, span, by: "g").value(of: VelocityEvents(events), at: now, judging: group)
                == .count(Int64(expected)), "seed \(seed)")
    }
}

import Policies
import Testing
import Time
import TrustInsights

@Suite struct ConsumptionTests {
    private static let tick = Duration.milliseconds(1)

    @Test func caseT8_theDueInstantIsInTime() {
        let due = noon
        for (reported, state) in [
            (due - Self.tick, ConsumptionState.reported), (due, .reported),
            (due + Self.tick, .reportedLate), (due + .seconds(1), .reportedLate),
        ] {
            // Once reported, later looks change nothing.
            for now in [reported, due + .days(99)] {
                #expect(ConsumptionState(dueAt: due, reportedAt: reported, now: now) == state)
            }
        }
        for (now, state) in [
            (due - Self.tick, ConsumptionState.due), (due, .due), (due + Self.tick, .missing),
        ] {
            #expect(ConsumptionState(dueAt: due, reportedAt: nil, now: now) == state)
        }
    }

    /// All combinations, against the sentences.
    @Test(arguments: ConsumptionStatus.allCases, Outcome.allCases)
    func flagsSayWhatIsOdd(_ status: ConsumptionStatus, _ outcome: Outcome) {
        for decided in Friction.allCases {
            for wasRead in [true, false] {
                var expected: [ConsumptionFlag] = []
                if status == .usedReducedFriction, outcome == .unknown {
                    expected.append(.reducedAfterUnknown)
                }
                if status == .usedReducedFriction, decided == .unchanged || decided == .increased {
                    expected.append(.reducedAgainstDecision)
                }
                if status == .usedIncreasedFriction, !wasRead {
                    expected.append(.increasedWithoutInsight)
                }
                #expect(
                    ConsumptionFlag.flags(
                        of: status, outcome: outcome, decided: decided, insightWasRead: wasRead)
                        == expected)
            }
        }
    }
}

@Suite struct LabelTests {
    private func label(
        _ id: String, _ value: LabelValue, at: Instant = noon, _ sequence: Int64,
        retracts: String? = nil
    ) -> Label {
        Label(
            labelID: id, label: value, category: nil, source: .partner, occurredAt: at,
            retracts: retracts, sequence: sequence)
    }

    private func orders(_ labels: [Label]) -> [[Label]] {
        guard labels.count > 1 else { return [labels] }
        return labels.indices.flatMap { index in
            var rest = labels
            let first = rest.remove(at: index)
            return orders(rest).map { [first] + $0 }
        }
    }

    @Test func caseT15_tiesGoToTheLedgersOrder() {
        let fraud = label("a", .confirmedFraud, 1)
        let retraction = label("b", .retracted, 2, retracts: "a")
        for order in orders([fraud, retraction]) { #expect(order.current == nil) }
        let legitimate = label("c", .confirmedLegitimate, 2)
        for order in orders([fraud, legitimate]) { #expect(order.current == legitimate) }
        let earlier = label("d", .suspectedFraud, at: noon - .milliseconds(1), 9)
        for order in orders([fraud, legitimate, earlier]) { #expect(order.current == legitimate) }
    }

    @Test func aRetractionGivesThePlaceBackToTheOneBefore() {
        let first = label("a", .suspectedFraud, at: noon, 1)
        let second = label("b", .confirmedFraud, at: noon + .days(1), 2)
        let retraction = label("c", .retracted, at: noon + .days(2), 3, retracts: "b")
        for order in orders([first, second, retraction]) { #expect(order.current == first) }
        // What was found later counts, in whatever order it came.
        for order in orders([first, second]) { #expect(order.current == second) }
    }

    @Test func aRetractionIsNeverTheCurrentLabel() {
        #expect([Label]().current == nil)
        #expect([label("r", .retracted, 1, retracts: "nobody")].current == nil)
    }
}

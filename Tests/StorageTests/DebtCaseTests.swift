import Engine
import JSON
import Policies
import Testing
import Time
import TrustInsights

/// Report debt through the engine: exact instants, whoever looks and however often it restarts.
@Suite struct DebtCaseTests {
    private static let tick = Duration.milliseconds(1)

    private func configuration(_ minimum: Int64) -> Configuration {
        var configuration = Configuration()
        configuration.debt.minimum = minimum
        return configuration
    }

    private func refusal(_ service: Service) -> Refusal? {
        service.perform(service.evaluation("try")).refusal
    }

    @Test(arguments: [false, true]) func suspensionBeginsAfterADayToTheMillisecond(
        restarts: Bool
    ) throws {
        let service = try Service(configuration: configuration(2))
        service.authorize("acct-42")
        for index in 0..<2 {
            service.perform(service.evaluation("r\(index)"))
            service.clock.advance(.seconds(1))
        }
        // The second is due an hour after it was completed; from then on two are owed.
        let since = Service.start + .seconds(1) + .hours(1)
        for (at, code) in [
            (since, nil), (since + Self.tick, Refusal.Code.reportDebt),
            (since + .hours(24), .reportDebt), (since + .hours(24) + Self.tick, .accessSuspended),
        ] {
            service.clock.advance(at - service.clock.now)
            if restarts { try service.restart() }
            guard let code else {
                #expect(service.perform(.listDebt(after: 0, limit: 9)).debt == 1)
                continue
            }
            let refusal = refusal(service)
            #expect(refusal?.code == code)
            #expect(refusal?.members["since"] == .string(since.rfc3339))
        }
    }

    @Test(arguments: [false, true]) func lowerNumbersHoldFromTheirInstantOn(restarts: Bool) throws {
        let service = try Service(configuration: configuration(20))
        service.authorize("acct-42")
        for index in 0..<3 { service.perform(service.evaluation("r\(index)")) }
        service.clock.advance(.hours(5))
        service.administer(.configure(configuration(2), zones: "none"))
        let since = service.clock.now
        // Nobody looked for a while; a look that writes nothing must not matter either.
        service.clock.advance(.hours(7))
        if restarts {
            try service.restart()
        } else {
            service.perform(.listDebt(after: 0, limit: 1))
        }
        service.clock.advance(since + .hours(24) - service.clock.now)
        let refused = refusal(service)
        #expect(refused?.code == .reportDebt)
        #expect(refused?.members["since"] == .string(since.rfc3339))
        service.clock.advance(Self.tick)
        #expect(refusal(service)?.code == .accessSuspended)
        // Higher ones lift it.
        service.administer(.configure(configuration(4), zones: "none"))
        #expect(refusal(service) == nil)
    }

    @Test func aShorterTimeForReportsLeavesNoneOut() throws {
        let service = try Service(configuration: configuration(20))
        service.authorize("acct-42")
        service.perform(service.evaluation("long"))
        var short = configuration(20)
        short.reportWithin = .minutes(1)
        service.administer(.configure(short, zones: "none"))
        service.perform(service.evaluation("short"))
        service.clock.advance(.minutes(2))
        #expect(service.perform(.listDebt(after: 0, limit: 9)).debt == 1)
        let report = ReportCommand(evaluation: .requestID("short"), status: .usedEvaluationOnly)
        #expect(service.perform(.reportConsumption(report)).debt == 0)
        service.clock.advance(.hours(1))
        #expect(service.perform(.listDebt(after: 0, limit: 9)).debt == 1)
        try service.restart()
        #expect(service.perform(.listDebt(after: 0, limit: 9)).debt == 1)
    }

    @Test func aSandboxClockThatJumpsOverThePeriodOwesNothing() throws {
        let service = try Service(configuration: configuration(2))
        service.authorize("acct-42")
        for index in 0..<5 { service.perform(service.evaluation("r\(index)")) }
        #expect(service.perform(.advanceSandboxClock(.days(32))).debt == 0)
        #expect(refusal(service) == nil)
    }

    @Test func warnOnlyRefusesNothing() throws {
        var configuration = configuration(1)
        configuration.debt.warnOnly = true
        let service = try Service(configuration: configuration)
        service.authorize("acct-42")
        service.perform(service.evaluation("r1"))
        service.clock.advance(.days(3))
        let reply = service.perform(service.evaluation("r2"))
        #expect(reply.evaluation != nil)
        #expect(reply.debt == 1)
    }

    @Test func whatIsOwedIsListedInPages() throws {
        let service = try Service(configuration: configuration(100))
        service.authorize("acct-42")
        for index in 0..<7 { service.perform(service.evaluation("r\(index)")) }
        service.clock.advance(.hours(2))
        var seen: [String] = []
        var after: Int64? = 0
        while let cursor = after {
            guard
                case .debt(let page) = service.perform(.listDebt(after: cursor, limit: 3)).content
            else {
                Issue.record("no page")
                return
            }
            #expect(page.count == 7)
            #expect(page.evaluations.count <= 3)
            seen += page.evaluations.map(\.requestID)
            after = page.next
        }
        #expect(seen == (0..<7).map { "r\($0)" })
    }
}

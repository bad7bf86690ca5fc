import Testing
import Time
import TrustInsights

@Suite struct AuthorizationTests {
    private static let day = Duration.hours(24)
    private static let tick = Duration.milliseconds(1)
    private static let wishes: [AuthorizationStatus] = [
        .notDetermined, .denied, .deniedRequestable,
    ]

    @Test func nothingReportedIsNotDetermined() {
        let status = Authorization().status(at: noon)
        #expect(status.status == .notDetermined)
        #expect(status.endsAt == nil)
    }

    @Test(arguments: wishes) func leavingTakesTheCoolDownToTheMillisecond(
        _ wish: AuthorizationStatus
    ) {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(wish, at: noon, coolDown: Self.day)
        let end = noon + Self.day
        for (at, status, endsAt) in [
            (noon, AuthorizationStatus.authorized, Instant?.some(end)),
            (end - Self.tick, .authorized, end),
            // A deadline's own instant is still in time.
            (end, .authorized, end),
            (end + Self.tick, wish, nil),
        ] {
            #expect(authorization.status(at: at).status == status)
            #expect(authorization.status(at: at).endsAt == endsAt)
        }
    }

    @Test(arguments: wishes, wishes) func sayingItAgainDoesNotRestartTheCoolDown(
        _ first: AuthorizationStatus, _ second: AuthorizationStatus
    ) {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(first, at: noon, coolDown: Self.day)
        authorization.report(second, at: noon + .hours(23), coolDown: .days(9))
        #expect(authorization.status(at: noon + .hours(23)).endsAt == noon + Self.day)
        // The latest word is what comes.
        #expect(authorization.status(at: noon + Self.day + Self.tick).status == second)
    }

    @Test func authorizedCancelsTheCoolDown() {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(.denied, at: noon, coolDown: Self.day)
        authorization.report(.authorized, at: noon + Self.day, coolDown: Self.day)
        #expect(authorization.status(at: noon + .days(9)).status == .authorized)
        #expect(authorization.status(at: noon + .days(9)).endsAt == nil)
        // A new wish then takes a whole cool-down of its own.
        authorization.report(.denied, at: noon + .days(9), coolDown: Self.day)
        #expect(authorization.status(at: noon + .days(9)).endsAt == noon + .days(10))
    }

    @Test func afterTheCoolDownAuthorizedIsNews() {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(.denied, at: noon, coolDown: Self.day)
        authorization.report(.authorized, at: noon + .days(2), coolDown: Self.day)
        #expect(authorization.status(at: noon + .days(2)).status == .authorized)
        #expect(authorization.status(at: noon + .days(2)).endsAt == nil)
    }

    @Test func unavailableIsAFactAndHoldsAtOnce() {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(.unavailable, at: noon, coolDown: Self.day)
        #expect(authorization.status(at: noon).status == .unavailable)
        // Also while a cool-down runs, and a wish after it needs no other one.
        authorization.report(.authorized, at: noon, coolDown: Self.day)
        authorization.report(.denied, at: noon, coolDown: Self.day)
        authorization.report(.unavailable, at: noon + .hours(1), coolDown: Self.day)
        #expect(authorization.status(at: noon + .hours(1)).status == .unavailable)
        #expect(authorization.status(at: noon + .days(2)).status == .unavailable)
        authorization.report(.denied, at: noon + .hours(2), coolDown: Self.day)
        #expect(authorization.status(at: noon + .hours(2)).status == .denied)
    }

    @Test(arguments: wishes, wishes) func whoIsNotAuthorizedHasNothingToLeave(
        _ first: AuthorizationStatus, _ second: AuthorizationStatus
    ) {
        var authorization = Authorization()
        authorization.report(first, at: noon, coolDown: Self.day)
        #expect(authorization.status(at: noon).status == first)
        authorization.report(second, at: noon + Self.tick, coolDown: Self.day)
        #expect(authorization.status(at: noon + Self.tick).status == second)
        #expect(authorization.status(at: noon + Self.tick).endsAt == nil)
    }

    @Test func withoutACoolDownTheInstantItselfIsStillAuthorized() {
        var authorization = Authorization()
        authorization.report(.authorized, at: noon, coolDown: .zero)
        authorization.report(.denied, at: noon, coolDown: .zero)
        #expect(authorization.status(at: noon).status == .authorized)
        #expect(authorization.status(at: noon + Self.tick).status == .denied)
    }
}

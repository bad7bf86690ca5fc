import JSON
import Time
import TrustInsights

/// The numbers an operator may set. Part of the ledger: every decision names the digest of
/// the configuration it was made with.
public struct Configuration: Sendable, Equatable {
    /// How long leaving `authorized` takes to have effect.
    public var authorizationCoolDown = Duration.hours(24)
    /// How long after completion a consumption report is in time.
    public var reportWithin = Duration.hours(1)
    /// When debt of reports stops evaluations.
    public var debt = DebtPolicy()
    /// How long after completion labels are taken.
    public var labelWindow = Duration.days(400)
    /// Evaluations of one app and environment in a UTC day at most; `nil` for no limit.
    public var evaluationsPerDay: Int64?

    /// What lets a policy act.
    public var guards = GuardThresholds()

    /// The defaults.
    public init() {}

    /// The configuration as canonical JSON: what is recorded, and what its digest is of.
    public var json: JSONValue {
        var json: JSONObject = [
            "authorizationCoolDown": .string(authorizationCoolDown.policyText),
            "debt": [
                "minimum": .int(debt.minimum), "period": .string(debt.period.policyText),
                "share": .double(debt.share),
                "suspendAfter": .string(debt.suspendAfter.policyText),
                "warnOnly": .bool(debt.warnOnly),
            ],
            "evaluationsPerDay": evaluationsPerDay.map { .int($0) } ?? .null,
            "labelWindow": .string(labelWindow.policyText),
            "reportWithin": .string(reportWithin.policyText),
        ]
        // Left out as long as they are the defaults: digests from before there were guards hold.
        if guards != GuardThresholds() {
            json["guards"] = [
                "branchCoverage": .double(guards.branchCoverage),
                "ruleCoverage": .double(guards.ruleCoverage),
                "shadowEvaluations": .int(guards.shadowEvaluations),
            ]
        }
        return .object(json)
    }

    /// Reads a configuration; members that are left out keep their defaults.
    public init(json: JSONValue) throws(Refusal) {
        self.init()
        let reader = try FieldReader(json, at: "")
        try reader.allowOnly([
            "authorizationCoolDown", "debt", "evaluationsPerDay", "guards", "labelWindow",
            "reportWithin",
        ])
        authorizationCoolDown =
            try reader.duration("authorizationCoolDown") ?? authorizationCoolDown
        reportWithin = try reader.duration("reportWithin") ?? reportWithin
        labelWindow = try reader.duration("labelWindow") ?? labelWindow
        evaluationsPerDay = try reader.integer("evaluationsPerDay", in: 1...Int64.max)
        if let guards = try reader.object("guards") {
            try guards.allowOnly(["branchCoverage", "ruleCoverage", "shadowEvaluations"])
            self.guards.branchCoverage =
                try guards.number("branchCoverage", in: 0...1) ?? self.guards.branchCoverage
            self.guards.ruleCoverage =
                try guards.number("ruleCoverage", in: 0...1) ?? self.guards.ruleCoverage
            self.guards.shadowEvaluations =
                try guards.integer("shadowEvaluations", in: 0...Int64.max)
                ?? self.guards.shadowEvaluations
        }
        guard let debt = try reader.object("debt") else { return }
        try debt.allowOnly(["minimum", "period", "share", "suspendAfter", "warnOnly"])
        self.debt.minimum = try debt.integer("minimum", in: 1...Int64.max) ?? self.debt.minimum
        self.debt.period = try debt.duration("period") ?? self.debt.period
        self.debt.share = try debt.number("share", in: 0...1) ?? self.debt.share
        self.debt.suspendAfter = try debt.duration("suspendAfter") ?? self.debt.suspendAfter
        self.debt.warnOnly = try debt.bool("warnOnly") ?? self.debt.warnOnly
    }
}

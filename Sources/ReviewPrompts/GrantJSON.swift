import JSON
import Policies
import Time

extension ReviewGrant {
    /// The grant as JSON; instants are milliseconds since the epoch, defaults are left out.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "device": .string(device),
            "reason": .string(reason), "version": .string(version),
            "grantedAt": .int(grantedAt.milliseconds),
            "leaseEndsAt": .int(leaseEndsAt.milliseconds),
            "silence": .string(silence.rawValue),
        ]
        if !subject.isEmpty { object["subject"] = .string(subject) }
        switch afterGrant {
        case .reset: object["afterGrant"] = "reset"
        case .none: object["afterGrant"] = "none"
        case .requireMore(let count): object["requireMore"] = .int(Int64(count))
        }
        if report != .none { object["report"] = .string(report.rawValue) }
        object["reportedAt"] = reportedAt.map { .int($0.milliseconds) }
        object["returnReason"] = returnReason.map { .string($0) }
        if isLate { object["isLate"] = true }
        if isSuperseded { object["isSuperseded"] = true }
        if isErased { object["isErased"] = true }
        return .object(object)
    }

    /// Reads a grant back.
    public init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "grant")
        let afterGrant: AfterGrant
        if let value = reader.take("requireMore") {
            afterGrant = .requireMore(try reader.count(value, "requireMore"))
        } else {
            switch try reader.string("afterGrant") {
            case "reset": afterGrant = .reset
            case "none": afterGrant = .none
            case let other: throw reader.error("afterGrant", "unknown name `\(other ?? "")`")
            }
        }
        self.init(
            id: try reader.requiredString("id"), subject: try reader.string("subject") ?? "",
            device: try reader.requiredString("device"),
            reason: try reader.requiredString("reason"),
            version: try reader.requiredString("version"),
            grantedAt: try reader.requiredInstant("grantedAt"),
            leaseEndsAt: try reader.requiredInstant("leaseEndsAt"),
            silence: try reader.requiredName("silence", of: ReviewLease.Silence.self),
            afterGrant: afterGrant)
        report = try reader.name("report", of: Report.self) ?? .none
        reportedAt = try reader.instant("reportedAt")
        returnReason = try reader.string("returnReason")
        isLate = try reader.bool("isLate") ?? false
        isSuperseded = try reader.bool("isSuperseded") ?? false
        isErased = try reader.bool("isErased") ?? false
        try reader.end()
    }
}

import JSON
import Policies
import Time

extension ReviewDonation {
    /// The donation as JSON, for the entry that records it.
    public var json: JSONValue {
        var object: JSONObject = [
            "reason": .string(reason), "subject": .string(subject), "device": .string(device),
            "version": .string(version), "distribution": .string(distribution.rawValue),
            "occurredAt": .int(occurredAt.milliseconds),
        ]
        object["zone"] = zone.map { .string($0) }
        object["installedAt"] = installedAt.map { .int($0.milliseconds) }
        if !attributes.members.isEmpty { object["attributes"] = .object(attributes) }
        return .object(object)
    }

    /// Reads a recorded donation back.
    public init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "donation")
        self.init(
            reason: try reader.requiredString("reason"),
            subject: try reader.requiredString("subject"),
            device: try reader.requiredString("device"),
            version: try reader.requiredString("version"),
            distribution: try reader.requiredName("distribution", of: ReviewDistribution.self),
            zone: try reader.string("zone"),
            occurredAt: try reader.requiredInstant("occurredAt"),
            installedAt: try reader.instant("installedAt"),
            attributes: JSONObject(try reader.members("attributes")))
        try reader.end()
    }
}

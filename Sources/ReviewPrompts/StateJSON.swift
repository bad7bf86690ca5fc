import JSON
import Policies
import Time

/// A stored state that does not have the form this module writes.
public struct ReviewStateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where, as names joined by slashes.
    public let place: String
    /// What is wrong.
    public let message: String

    /// The place and the message in one line.
    public var description: String { "review state at `\(place)`: \(message)" }
}

/// States as JSON: instants are milliseconds since the epoch, and what is empty is left out, so a
/// state stays small beside the event that made it. The canonical text is the same for equal
/// states.
extension ReviewSubjectState {
    /// The state as JSON.
    public var json: JSONValue {
        var object = JSONObject()
        if ledger != PromptLedger() { object["ledger"] = ledger.json }
        if !counters.isEmpty {
            object["counters"] = .object(sorted: counters.mapValues(\.json))
        }
        if !events.isEmpty { object["events"] = .object(sorted: events.mapValues(\.json)) }
        if !outcomes.isEmpty { object["outcomes"] = .object(sorted: outcomes.mapValues(\.json)) }
        object["openGrantID"] = openGrantID.map { .string($0) }
        object["lastVersion"] = lastVersion.map { .string($0) }
        object["zone"] = zone.map { .string($0) }
        object["lastDonationAt"] = lastDonationAt.map { .int($0.milliseconds) }
        if hasCountedGrant { object["hasCountedGrant"] = true }
        object["aliasOf"] = aliasOf.map { .string($0) }
        if absorbed > 0 { object["absorbed"] = .int(Int64(absorbed)) }
        return .object(object)
    }

    /// Reads a state back.
    public init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "subject")
        self.init()
        if let value = reader.take("ledger") { ledger = try PromptLedger(json: value) }
        for (name, value) in try reader.members("counters") {
            counters[name] = try ReasonCounter(json: value)
        }
        for (name, value) in try reader.members("events") {
            events[name] = try ReviewMark(json: value)
        }
        for (name, value) in try reader.members("outcomes") {
            outcomes[name] = try ReviewMark(json: value)
        }
        openGrantID = try reader.string("openGrantID")
        lastVersion = try reader.string("lastVersion")
        zone = try reader.string("zone")
        lastDonationAt = try reader.instant("lastDonationAt")
        hasCountedGrant = try reader.bool("hasCountedGrant") ?? false
        aliasOf = try reader.string("aliasOf")
        if let value = reader.take("absorbed") { absorbed = try reader.count(value, "absorbed") }
        try reader.end()
    }
}

extension ReviewDeviceState {
    /// The state as JSON.
    public var json: JSONValue {
        var object = JSONObject()
        if ledger != PromptLedger() { object["ledger"] = ledger.json }
        object["installedAt"] = installedAt.map { .int($0.milliseconds) }
        return .object(object)
    }

    /// Reads a state back.
    public init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "device")
        self.init()
        if let value = reader.take("ledger") { ledger = try PromptLedger(json: value) }
        ledger.forgetSubjects()
        installedAt = try reader.instant("installedAt")
        try reader.end()
    }
}

extension PromptLedger {
    var json: JSONValue {
        var object = JSONObject()
        if !grants.isEmpty { object["grants"] = .array(grants.map(\.json)) }
        if !older.isEmpty {
            object["older"] = .object(
                JSONObject(older.map { (key: $0.version, value: .int(Int64($0.count))) }))
        }
        return .object(object)
    }

    init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "ledger")
        var grants: [ReviewGrant] = []
        for value in try reader.array("grants") { grants.append(try ReviewGrant(json: value)) }
        var older: [VersionCount] = []
        for (version, value) in try reader.members("older") {
            older.append(
                VersionCount(version: version, count: try reader.count(value, "older/" + version)))
        }
        // Whoever wrote it may have sorted names by another order.
        older.sort { $0.version < $1.version }
        self.init(grants: grants, older: older)
        try reader.end()
    }
}

extension ReasonCounter {
    var json: JSONValue {
        var object: JSONObject = ["total": .int(Int64(total))]
        if atLastGrant > 0 { object["atLastGrant"] = .int(Int64(atLastGrant)) }
        if !recent.isEmpty { object["recent"] = .array(recent.map { .int($0.milliseconds) }) }
        if !days.isEmpty { object["days"] = .array(days.map { .int($0) }) }
        return .object(object)
    }

    init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "counter")
        self.init()
        total = try reader.count(reader.required("total"), "total")
        if let value = reader.take("atLastGrant") {
            atLastGrant = try reader.count(value, "atLastGrant")
        }
        for value in try reader.array("recent") {
            recent.append(Instant(milliseconds: try reader.integer(value, "recent")))
        }
        for value in try reader.array("days") {
            let day = try reader.integer(value, "days")
            days.append(CivilDate(daysSinceEpoch: day).daysSinceEpoch)
        }
        try reader.end()
    }
}

extension ReviewMark {
    var json: JSONValue {
        ["at": .int(at.milliseconds), "version": .string(version)]
    }

    init(json: JSONValue) throws(ReviewStateError) {
        var reader = try StateReader(json, "mark")
        self.init(
            at: Instant(milliseconds: try reader.integer(reader.required("at"), "at")),
            version: try reader.string("version") ?? "")
        try reader.end()
    }
}

extension JSONValue {
    /// An object with its names in order, so that a dictionary's own order never shows.
    static func object(sorted members: [String: JSONValue]) -> JSONValue {
        .object(
            JSONObject(
                members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                    .map { (key: $0.key, value: $0.value) }))
    }
}

import Engine
import JSON
import Policies
import ReviewPrompts
import Time

/// One line of a stream of donations: the members of a donation as the API takes it, and what the
/// app would do with a grant.
struct EventLine {
    /// What is wrong with a line.
    struct Fault: Error {
        /// The member, as `attributes.minutes`; empty for the line as a whole.
        var field: String
        /// What was given; `nil` where nothing was.
        var value: String?
        var message: String
        var allowed = ""

        var text: String {
            var text = field.isEmpty ? message : "`\(field)`: \(message)"
            if let value { text += ": \(Layout.fit(value, 60))" }
            // A name may be anything, also what a terminal would obey.
            text = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
            return allowed.isEmpty ? text : text + "; allowed: \(allowed)"
        }
    }

    /// The longest id and name, in bytes, as the API has it.
    static let longestID = 256
    static let attributes = 50

    private enum Member: Int, CaseIterable {
        case reason, subject, device, appVersion, distribution, timeZone, occurredAt, receivedAt
        case installedAt, attributes, environment, activeScene, outcome, outcomeReason
        case idempotencyKey

        var name: String { String(describing: self) }

        static let byName: [String: Member] = Dictionary(
            uniqueKeysWithValues: allCases.map { ($0.name, $0) })
    }

    private let zones: ZoneDatabase
    private var seen = 0
    private var outcome: String?
    private var outcomeReason: String?
    private var receivedAt: Instant?
    private var occurredAt: Instant?
    private var environment = ReviewEnvironment.production
    private var hasActiveScene = true
    private var donation = ReviewDonation(
        reason: "", subject: "", device: "", version: "", occurredAt: .epoch)

    private init(zones: ZoneDatabase) { self.zones = zones }

    /// Reads a line.
    static func read(_ root: JSONCursor, zones: ZoneDatabase) throws(Fault) -> ReviewEvent {
        var line = EventLine(zones: zones)
        guard root.isObject else {
            throw Fault(field: "", message: "a line is an object, a donation")
        }
        try root.forEachMember { name, value throws(Fault) in
            try line.take(String(decoding: name, as: UTF8.self), value)
        }
        return try line.event()
    }

    private mutating func take(_ name: String, _ value: JSONCursor) throws(Fault) {
        guard let member = Member.byName[name] else {
            throw Fault(
                field: name, message: "there is no such member",
                allowed: Member.allCases.map(\.name).joined(separator: ", "))
        }
        guard seen & 1 << member.rawValue == 0 else {
            throw Fault(field: name, message: "it stands twice in the line")
        }
        // As in the API, null is as good as left out.
        if value.isNull { return }
        seen |= 1 << member.rawValue
        switch member {
        case .reason: donation.reason = try id(value, member)
        case .subject: donation.subject = try id(value, member)
        case .device: donation.device = try id(value, member)
        case .idempotencyKey: _ = try id(value, member)
        case .appVersion: donation.version = try text(value, member, AppVersion.maxLength)
        case .distribution: donation.distribution = try choice(value, member)
        case .environment: environment = try choice(value, member)
        case .timeZone: donation.zone = try zone(value)
        case .occurredAt: occurredAt = try instant(value, member)
        case .receivedAt: receivedAt = try instant(value, member)
        case .installedAt: donation.installedAt = try instant(value, member)
        case .activeScene:
            guard let bool = value.bool else {
                throw fault(value, member, "it is no truth value", "true, false")
            }
            hasActiveScene = bool
        case .outcome:
            let text = value.string ?? ""
            guard ["requested", "notRequested", "silent"].contains(text) else {
                throw fault(
                    value, member, "there is no such outcome", "requested, notRequested, silent")
            }
            outcome = text
        case .outcomeReason:
            outcomeReason = try text(value, member, ReviewPromptLimits.outcomeReason)
            guard outcomeReason != "" else { throw fault(value, member, "it is empty", "a reason") }
        case .attributes: donation.attributes = try attributes(value)
        }
    }

    private func event() throws(Fault) -> ReviewEvent {
        for member in [Member.reason, .subject, .device] where seen & 1 << member.rawValue == 0 {
            throw Fault(field: member.name, message: "it is missing")
        }
        guard let time = receivedAt ?? occurredAt else {
            throw Fault(
                field: "occurredAt", message: "neither it nor `receivedAt` is there",
                allowed: "a time such as 2026-11-30T12:00:00Z")
        }
        var donation = donation
        donation.occurredAt = occurredAt ?? time
        if outcomeReason != nil, outcome != "notRequested" {
            throw Fault(
                field: "outcomeReason", value: outcomeReason,
                message: "a reason needs `\"outcome\":\"notRequested\"`")
        }
        let report: ReviewEvent.Report =
            switch outcome {
            case "notRequested"?: .notRequested(reason: outcomeReason)
            case "silent"?: .silent
            default: .requested
            }
        return ReviewEvent(
            donation: donation, receivedAt: time, environment: environment,
            hasActiveScene: hasActiveScene, report: report)
    }

    // MARK: Values

    private func fault(
        _ value: JSONCursor, _ member: Member, _ message: String, _ allowed: String
    ) -> Fault {
        Fault(field: member.name, value: value.shown, message: message, allowed: allowed)
    }

    private func text(_ value: JSONCursor, _ member: Member, _ longest: Int) throws(Fault)
        -> String
    {
        guard let text = value.string else {
            throw fault(value, member, "it is no text", "a text of at most \(longest) bytes")
        }
        guard !text.unicodeScalars.contains(where: \.isControl) else {
            throw fault(value, member, "it has control characters", "text without any")
        }
        guard text.utf8.count <= longest else {
            throw fault(
                value, member, "it has \(text.utf8.count) bytes", "at most \(longest) bytes")
        }
        return text
    }

    private func id(_ value: JSONCursor, _ member: Member) throws(Fault) -> String {
        let text = try text(value, member, Self.longestID)
        guard !text.isEmpty else {
            throw fault(value, member, "it is empty", "1 to \(Self.longestID) bytes")
        }
        return text
    }

    private func choice<Name: RawRepresentable<String> & CaseIterable>(
        _ value: JSONCursor, _ member: Member
    ) throws(Fault) -> Name {
        guard let name = Name(rawValue: value.string ?? "") else {
            throw fault(
                value, member, "there is no such name",
                Name.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return name
    }

    private func zone(_ value: JSONCursor) throws(Fault) -> String {
        guard let name = value.string, zones[name] != nil else {
            throw fault(
                value, .timeZone, "there is no such time zone",
                "a name such as Europe/London, UTC, or +05:30")
        }
        return name
    }

    private func instant(_ value: JSONCursor, _ member: Member) throws(Fault) -> Instant {
        guard let instant = value.withText({ Instant(rfc3339: $0) }) ?? nil else {
            throw fault(
                value, member, "it is no time", "a time such as 2026-11-30T12:00:00Z")
        }
        return instant
    }

    private func attributes(_ value: JSONCursor) throws(Fault) -> JSONObject {
        guard value.isObject else {
            throw fault(
                value, .attributes, "it is no object", "an object of texts, numbers, truths")
        }
        guard value.count <= Self.attributes else {
            throw fault(
                value, .attributes, "it has \(value.count) members",
                "at most \(Self.attributes)")
        }
        var members: [(key: String, value: JSONValue)] = []
        try value.forEachMember { bytes, value throws(Fault) in
            let name = String(decoding: bytes, as: UTF8.self)
            guard let scalar = value.scalar else {
                throw Fault(
                    field: "attributes." + name, value: value.shown, message: "it is no scalar",
                    allowed: "a text, a number, true, false")
            }
            guard !members.contains(where: { ExactText($0.key) == ExactText(name) }) else {
                throw Fault(field: "attributes." + name, message: "it stands twice")
            }
            members.append((name, scalar))
        }
        return JSONObject(members)
    }
}

extension JSONCursor {
    /// A text, a number or a truth value; `nil` for anything else.
    fileprivate var scalar: JSONValue? {
        if let string { return .string(string) }
        if let bool { return .bool(bool) }
        if let int { return .int(int) }
        return isDouble ? double.map { .double($0) } : nil
    }

    /// As it is shown in a message.
    fileprivate var shown: String {
        scalar.map(\.text) ?? (isObject ? "an object" : isArray ? "an array" : "null")
    }
}

extension Unicode.Scalar {
    /// As the API tells control characters from text.
    fileprivate var isControl: Bool { value < 0x20 || value == 0x7F }
}

import JSON
import Time

/// Reads the members of one object by name and refuses what is left over.
struct StateReader {
    private var object: JSONObject
    private let name: String

    init(_ json: JSONValue, _ name: String) throws(ReviewStateError) {
        guard let object = json.objectValue else {
            throw ReviewStateError(place: name, message: "an object is needed")
        }
        self.object = object
        self.name = name
    }

    func error(_ member: String, _ message: String) -> ReviewStateError {
        ReviewStateError(place: name + "/" + member, message: message)
    }

    mutating func take(_ member: String) -> JSONValue? {
        let value = object[member]
        object[member] = nil
        return value
    }

    mutating func required(_ member: String) throws(ReviewStateError) -> JSONValue {
        guard let value = take(member) else { throw error(member, "missing") }
        return value
    }

    mutating func string(_ member: String) throws(ReviewStateError) -> String? {
        guard let value = take(member) else { return nil }
        guard let text = value.stringValue else { throw error(member, "a string is needed") }
        return text
    }

    mutating func requiredString(_ member: String) throws(ReviewStateError) -> String {
        guard let text = try string(member) else { throw error(member, "missing") }
        return text
    }

    mutating func bool(_ member: String) throws(ReviewStateError) -> Bool? {
        guard let value = take(member) else { return nil }
        guard let bool = value.boolValue else { throw error(member, "true or false is needed") }
        return bool
    }

    mutating func instant(_ member: String) throws(ReviewStateError) -> Instant? {
        guard let value = take(member) else { return nil }
        return Instant(milliseconds: try integer(value, member))
    }

    mutating func requiredInstant(_ member: String) throws(ReviewStateError) -> Instant {
        guard let instant = try instant(member) else { throw error(member, "missing") }
        return instant
    }

    mutating func array(_ member: String) throws(ReviewStateError) -> [JSONValue] {
        guard let value = take(member) else { return [] }
        guard let array = value.arrayValue else { throw error(member, "an array is needed") }
        return array
    }

    mutating func members(
        _ member: String
    ) throws(ReviewStateError) -> [(key: String, value: JSONValue)] {
        guard let value = take(member) else { return [] }
        guard let object = value.objectValue else { throw error(member, "an object is needed") }
        return object.members
    }

    /// One of the names of an enumeration.
    mutating func name<Name: RawRepresentable<String>>(
        _ member: String, of type: Name.Type
    ) throws(ReviewStateError) -> Name? {
        guard let text = try string(member) else { return nil }
        guard let name = Name(rawValue: text) else { throw error(member, "unknown name `\(text)`") }
        return name
    }

    mutating func requiredName<Name: RawRepresentable<String>>(
        _ member: String, of type: Name.Type
    ) throws(ReviewStateError) -> Name {
        guard let name = try name(member, of: type) else { throw error(member, "missing") }
        return name
    }

    func integer(_ value: JSONValue, _ member: String) throws(ReviewStateError) -> Int64 {
        guard case .int(let number) = value else { throw error(member, "an integer is needed") }
        return number
    }

    /// A count: not negative and within the limit, so that sums cannot overflow.
    func count(_ value: JSONValue, _ member: String) throws(ReviewStateError) -> Int {
        let number = try integer(value, member)
        guard (0...Int64(ReviewPromptLimits.count)).contains(number) else {
            throw error(member, "\(number) is not within 0 and \(ReviewPromptLimits.count)")
        }
        return Int(number)
    }

    /// Refuses members that nobody asked for.
    func end() throws(ReviewStateError) {
        if let member = object.members.first { throw error(member.key, "unknown member") }
    }
}

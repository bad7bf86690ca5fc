import JSON
import Ledger
import Time

/// What a payload holds: a command as it was taken and what became of it.
///
/// Every kind can be written as canonical JSON and read back, and a fold over records gives
/// the state (``Registry``, ``SubjectState``, ``EvaluationState``).
public protocol Record: Sendable {
    /// The kind's name in the ledger.
    static var kind: RecordKind { get }
    /// Writes the payload: members in the byte order of their names.
    func write(to writer: inout JSONWriter)
    /// Reads a payload that was written so.
    init(payload: RecordReader) throws(CorruptEntry)
}

/// The kinds of entries.
public enum RecordKind: String, Sendable, CaseIterable {
    case activation, app, authorization, configuration, consumption, deactivation, donation
    case erasure, evaluation, grantOutcome, key, keyRevocation, label, ledgerFork, merge, policies,
        reset
    case rollback, sandboxClock

    /// Whether entries of the kind are about the service or its apps, and about nobody: they are
    /// few, and all of them are read at every start.
    public var isOfService: Bool {
        switch self {
        case .activation, .app, .configuration, .deactivation, .key, .keyRevocation, .policies,
            .rollback:
            true
        case .authorization, .consumption, .donation, .erasure, .evaluation, .grantOutcome,
            .label, .ledgerFork, .merge, .reset, .sandboxClock:
            false
        }
    }
}

/// A stored entry that cannot be read: the database was changed, or is of a newer version.
public struct CorruptEntry: Error, Sendable, CustomStringConvertible {
    /// The entry's number; 0 where it is not known.
    public var sequence: Int64
    /// What is wrong with it.
    public var detail: String

    /// An entry that cannot be read.
    public init(sequence: Int64 = 0, detail: String) {
        self.sequence = sequence
        self.detail = detail
    }

    /// For logs.
    public var description: String { "entry \(sequence) cannot be read: \(detail)" }
}

/// Reads members of a stored payload. What is missing makes the entry corrupt.
public struct RecordReader: Sendable {
    /// The object read.
    public let value: JSONValue
    private let sequence: Int64

    /// A reader of a payload's bytes.
    public init(bytes: [UInt8], sequence: Int64) throws(CorruptEntry) {
        let result = bytes.withUnsafeBytes { buffer -> Result<RecordReader, CorruptEntry> in
            Result { () throws(CorruptEntry) in try RecordReader(buffer, sequence: sequence) }
        }
        self = try result.get()
    }

    /// A reader of a payload's bytes.
    public init(_ bytes: UnsafeRawBufferPointer, sequence: Int64) throws(CorruptEntry) {
        do {
            value = try JSONReader.parse(bytes, limits: JSONLimits(bytes: 64 << 20, depth: 100))
        } catch {
            throw CorruptEntry(
                sequence: sequence, detail: "its payload is no JSON: \(error.message)")
        }
        self.sequence = sequence
    }

    /// A reader of a payload that was read already.
    public init(value: JSONValue, sequence: Int64) {
        self.value = value
        self.sequence = sequence
    }

    /// The object of that name.
    public func object(_ name: String) throws(CorruptEntry) -> RecordReader {
        guard let member = value[name], case .object = member else { throw corrupt(name) }
        return RecordReader(value: member, sequence: sequence)
    }

    /// The object of that name, if it is there.
    public func objectIfPresent(_ name: String) throws(CorruptEntry) -> RecordReader? {
        value[name] == nil ? nil : try object(name)
    }

    /// The objects of an array; none if it is not there.
    public func objects(_ name: String) throws(CorruptEntry) -> [RecordReader] {
        guard let member = value[name] else { return [] }
        guard case .array(let elements) = member else { throw corrupt(name) }
        return elements.map { RecordReader(value: $0, sequence: sequence) }
    }

    /// The strings of an array; none if it is not there.
    public func strings(_ name: String) throws(CorruptEntry) -> [String] {
        guard let member = value[name] else { return [] }
        guard case .array(let elements) = member else { throw corrupt(name) }
        return elements.compactMap(\.stringValue)
    }

    /// The string of that name.
    public func string(_ name: String) throws(CorruptEntry) -> String {
        guard let text = value[name]?.stringValue else { throw corrupt(name) }
        return text
    }

    /// The string of that name, if it is there.
    public func stringIfPresent(_ name: String) -> String? { value[name]?.stringValue }

    /// The integer of that name.
    public func int(_ name: String) throws(CorruptEntry) -> Int64 {
        guard let number = value[name]?.intValue else { throw corrupt(name) }
        return number
    }

    /// The double of that name.
    public func double(_ name: String) throws(CorruptEntry) -> Double {
        guard let number = value[name]?.doubleValue else { throw corrupt(name) }
        return number
    }

    /// The truth value of that name; false if it is not there.
    public func flag(_ name: String) -> Bool { value[name]?.boolValue ?? false }

    /// The time of that name.
    public func instant(_ name: String) throws(CorruptEntry) -> Instant {
        guard let instant = try instantIfPresent(name) else { throw corrupt(name) }
        return instant
    }

    /// The time of that name, if it is there.
    public func instantIfPresent(_ name: String) throws(CorruptEntry) -> Instant? {
        guard let text = value[name]?.stringValue else { return nil }
        guard let instant = Instant(rfc3339: text) else { throw corrupt(name) }
        return instant
    }

    /// One of a closed set of names.
    public func choice<T: RawRepresentable>(_ name: String, _ type: T.Type = T.self)
        throws(CorruptEntry) -> T where T.RawValue == String
    {
        guard let choice = try choiceIfPresent(name, type) else { throw corrupt(name) }
        return choice
    }

    /// One of a closed set of names, if it is there.
    public func choiceIfPresent<T: RawRepresentable>(_ name: String, _ type: T.Type = T.self)
        throws(CorruptEntry) -> T? where T.RawValue == String
    {
        guard let text = value[name]?.stringValue else { return nil }
        guard let choice = T(rawValue: text) else { throw corrupt(name) }
        return choice
    }

    /// The pseudonym of that name.
    public func pseudonym(_ name: String) throws(CorruptEntry) -> Pseudonym {
        guard let pseudonym = value[name]?.stringValue.flatMap({ Pseudonym($0) }) else {
            throw corrupt(name)
        }
        return pseudonym
    }

    /// The id of that name.
    public func identifier(_ name: String) throws(CorruptEntry) -> Identifier {
        guard let id = value[name]?.stringValue.flatMap({ Identifier($0) }) else {
            throw corrupt(name)
        }
        return id
    }

    /// What to throw when a member is not as it was written.
    public func corrupt(_ name: String) -> CorruptEntry {
        CorruptEntry(sequence: sequence, detail: "`\(name)` is missing or not as written")
    }
}

extension JSONWriter {
    /// A member that is a time.
    public mutating func member(_ name: StaticString, _ instant: Instant) {
        key(name)
        string(room: 30) { instant.writeRFC3339(to: $0) }
    }

    /// A member that is a time, if there is one.
    public mutating func member(_ name: StaticString, _ instant: Instant?) {
        if let instant { member(name, instant) }
    }

    /// A member that is a string.
    public mutating func member(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }

    /// A member that is a string, if there is one.
    public mutating func member(_ name: StaticString, _ text: String?) {
        if let text { member(name, text) }
    }

    /// A member that is an id.
    mutating func member(_ name: StaticString, _ id: Identifier) {
        key(name)
        string(room: 36) { id.write(to: $0) }
    }

    /// A member that is a pseudonym.
    mutating func member(_ name: StaticString, _ pseudonym: Pseudonym) {
        key(name)
        string(room: 32) { pseudonym.write(to: $0) }
    }

    /// A member that is an array of strings.
    public mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    /// A member that is an object.
    public mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        beginObject()
        body(&self)
        endObject()
    }
}

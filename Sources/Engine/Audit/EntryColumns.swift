import CEL
import JSON
import Time

/// The values of entries under the names of ``AuditVariable``, as texts, for tables and counts: the
/// same values that filters read. For one thread.
public struct EntryColumns: ~Copyable {
    private var activation = Activation(AuditFilter.language)
    private let members = AuditMembers.all

    /// The columns, in order.
    public static let names = AuditVariable.allCases.filter { $0 != .now }

    /// A value as text.
    public struct Cell: Sendable, Equatable {
        /// The text; empty where the value is absent.
        public var text: String
        /// Whether it is text of an entry, and no number, time or truth value.
        public var isText: Bool
    }

    /// Reads columns.
    public init() {}

    /// The columns of an entry as it is answered: envelope and payload.
    public mutating func cells(of entry: JSONValue) -> [Cell] {
        activation.reset()
        let envelope = entry["envelope"] ?? .null
        let payload = entry["payload"]
        if let payload {
            payload.canonicalBytes.withUnsafeBytes { bytes in
                // What was read as JSON once is JSON.
                try? JSONReader.withCursor(bytes, limits: JSONLimits(bytes: 64 << 20, depth: 100)) {
                    EntryMembers.fill(&activation, from: $0, members)
                }
            }
        }
        return Self.names.map { variable in
            switch variable {
            case .sequence:
                Cell(text: envelope["sequence"]?.intValue.map { "\($0)" } ?? "", isText: false)
            case .erased: Cell(text: payload == nil ? "true" : "false", isText: false)
            case .at, .kind, .app, .environment, .actor:
                Cell(
                    text: envelope[variable.rawValue]?.stringValue ?? "", isText: variable != .at)
            case .attributes: attributes(payload)
            default: Self.cell(activation.value(of: variable.slot))
            }
        }
    }

    private func attributes(_ payload: JSONValue?) -> Cell {
        let command = payload?["command"]
        let given = command?["attributes"] ?? command?["donation"]?["attributes"]
        return Cell(text: given?.text ?? "", isText: true)
    }

    private static func cell(_ value: Value?) -> Cell {
        switch value {
        case .string(let text)?: Cell(text: text, isText: true)
        case .int(let number)?: Cell(text: "\(number)", isText: false)
        case .double(let number)?: Cell(text: JSONValue.double(number).text, isText: false)
        case .bool(let flag)?: Cell(text: flag ? "true" : "false", isText: false)
        case .timestamp(let time)?:
            Cell(text: Instant(time).rfc3339, isText: false)
        case .list(let elements)?:
            Cell(text: elements.map { cell($0).text }.joined(separator: " "), isText: true)
        default: Cell(text: "", isText: true)
        }
    }
}

extension Instant {
    /// The same moment, in milliseconds.
    fileprivate init(_ time: Timestamp) {
        self.init(milliseconds: time.seconds * 1_000 + Int64(time.nanoseconds / 1_000_000))
    }
}

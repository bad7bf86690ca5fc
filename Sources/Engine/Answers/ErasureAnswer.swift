import JSON
import Time

/// What erasing a person came to.
public struct ErasureAnswer: Sendable, Equatable {
    /// How many entries were erased, by kind.
    public var erased: [RecordKind: Int] = [:]
    /// Reports that were owed and no longer are.
    public var cancelledReports = 0
    /// The numbers of the entries that record it; none where there was nothing to erase.
    public var entries: [Int64] = []
    /// Prompts that go on counting on devices.
    public var devicePrompts = 0
    /// Until when the last of them does.
    public var devicePromptsUntil: Instant?
    /// Whether the bytes are gone from the log and the index too. If not yet, a thread goes on
    /// trying; asking for the same erasure again tells how it stands.
    public var isLogCleared = false

    /// Kinds of entries that can be about a person.
    public static let kinds: [RecordKind] = [
        .authorization, .consumption, .donation, .evaluation, .grantOutcome, .label, .merge, .reset,
    ]

    /// The answer.
    public var json: JSONValue {
        [
            "erased": .object(
                JSONObject(
                    Self.kinds.map { (key: $0.rawValue, value: .int(Int64(erased[$0] ?? 0))) })),
            "cancelledReports": .int(Int64(cancelledReports)),
            "entries": .array(entries.map { .int($0) }),
            "kept": [
                "devicePrompts": .int(Int64(devicePrompts)),
                "devicePromptsUntil": devicePromptsUntil.map { .string($0.rfc3339) } ?? .null,
                "totals": [
                    "donations": .int(Int64(erased[.donation] ?? 0)),
                    "evaluations": .int(Int64(erased[.evaluation] ?? 0)),
                ],
            ],
            "logCleared": .bool(isLogCleared),
        ]
    }
}

import JSON
import Ledger
import Time
import TrustInsights

/// An entry that was erased, with what of it counts on and is about nobody.
///
/// Totals over many people stay what they were: how often a policy judged, how many evaluations an
/// app made and reported. Folding a ledger takes this in place of the payload.
public struct ErasedEntry: Sendable, Equatable {
    /// Its number.
    public var sequence: Int64
    /// Its kind.
    public var kind: RecordKind
    /// Digests of the policies that judged it: evaluations, donations.
    public var judged: [String] = []
    /// When an evaluation was completed.
    public var completedAt: Instant?
    /// Until when a report was owed: evaluations that owe one, reports.
    public var dueAt: Instant?
    /// The number of the evaluation that a report was about.
    public var evaluation: Int64?

    init(sequence: Int64, kind: RecordKind) {
        self.sequence = sequence
        self.kind = kind
    }

    init(_ record: EvaluationRecord, sequence: Int64) {
        self.init(sequence: sequence, kind: .evaluation)
        // What a sandbox key forced is no trial of a policy.
        if record.force == nil {
            judged = [record.policy.digest]
            if let shadow = record.shadowPolicy { judged.append(shadow.policy.digest) }
        }
        completedAt = record.completedAt
        dueAt = record.reportDueAt
    }

    init(_ record: ConsumptionRecord, sequence: Int64) {
        self.init(sequence: sequence, kind: .consumption)
        dueAt = record.dueAt
        evaluation = record.evaluationID.sequence
    }

    init(_ record: DonationRecord, sequence: Int64) {
        self.init(sequence: sequence, kind: .donation)
        judged = DonationJudges(record).digests
    }
}

/// A person who was erased. It says of nobody who: it names entries whose payloads are gone.
public struct ErasureRecord: Record, Equatable {
    public static var kind: RecordKind { .erasure }

    /// Entries that one record names at most, so that it stays small enough to be read whole.
    static let mostEntries = 10_000

    /// Why, in the actor's words; `nil` where nothing was said.
    public var reason: String?
    /// The entries, in ledger order.
    public var entries: [ErasedEntry]
    /// What is still remembered of the devices that the entries were about.
    public var states: ReviewStates

    init(reason: String?, entries: [ErasedEntry], states: ReviewStates) {
        self.reason = reason
        self.entries = entries
        self.states = states
    }

    public func write(to writer: inout JSONWriter) {
        // Digests are long and few: each stands once, and entries name it by its place.
        var places: [String: Int64] = [:]
        var digests: [String] = []
        for digest in entries.flatMap(\.judged) where places[digest] == nil {
            places[digest] = Int64(digests.count)
            digests.append(digest)
        }
        writer.beginObject()
        writer.object("command") { $0.member("reason", reason) }
        writer.object("result") { writer in
            writer.key("erased")
            writer.beginArray()
            for entry in entries { entry.write(to: &writer, places) }
            writer.endArray()
            writer.member("policies", digests)
            writer.object("states", states.write)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        reason = try payload.object("command").stringIfPresent("reason")
        let result = try payload.object("result")
        let digests = try result.strings("policies")
        entries = []
        for entry in try result.objects("erased") {
            entries.append(try ErasedEntry(entry, digests))
        }
        states = try ReviewStates(payload: result.object("states"))
    }
}

extension ErasedEntry {
    fileprivate func write(to writer: inout JSONWriter, _ places: [String: Int64]) {
        writer.beginObject()
        writer.member("completedAt", completedAt)
        writer.member("dueAt", dueAt)
        if let evaluation {
            writer.key("evaluation")
            writer.int(evaluation)
        }
        if !judged.isEmpty {
            writer.key("judged")
            writer.beginArray()
            for digest in judged { writer.int(places[digest] ?? 0) }
            writer.endArray()
        }
        writer.member("kind", kind.rawValue)
        writer.key("sequence")
        writer.int(sequence)
        writer.endObject()
    }

    fileprivate init(_ entry: RecordReader, _ digests: [String]) throws(CorruptEntry) {
        self.init(sequence: try entry.int("sequence"), kind: try entry.choice("kind"))
        completedAt = try entry.instantIfPresent("completedAt")
        dueAt = try entry.instantIfPresent("dueAt")
        evaluation = entry.value["evaluation"]?.intValue
        for place in entry.value["judged"]?.arrayValue ?? [] {
            guard let index = place.intValue.flatMap({ Int(exactly: $0) }),
                digests.indices.contains(index)
            else { throw entry.corrupt("judged") }
            judged.append(digests[index])
        }
    }
}

import Engine
import Glibc
import JSON
import Storage
import Time

/// Recorded evaluations and labels, from a data folder or from an exported stream.
enum RecordedStream {
    case folder(LedgerFile)
    /// NDJSON: an entry a line, as `discern audit export` prints them.
    case file(path: String)

    enum Entry {
        case evaluation(RecordedEvaluation)
        case label(LabelRecord, sequence: Int64)
        /// A donation that a policy in shadow saw; only where shadows are read.
        case donation(RecordedDonation)
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// The one app and environment with evaluations, or the one asked for.
    ///
    /// - Parameter kinds: entries of which kinds are looked for.
    func tenant(
        app: String?, environment: String?, kinds: [RecordKind] = [.evaluation]
    ) throws -> Tenant {
        let all: [(tenant: Tenant, entries: Int64)]
        switch self {
        case .folder(let ledger): all = try Self.sum(kinds.flatMap { try ledger.tenants(of: $0) })
        case .file(let path): all = try Self.tenants(in: path, kinds)
        }
        let found = all.filter {
            (app ?? $0.tenant.app) == $0.tenant.app
                && (environment ?? $0.tenant.environment.rawValue) == $0.tenant.environment.rawValue
        }
        if found.count == 1 { return found[0].tenant }
        let names = all.map {
            "\($0.tenant.app)/\($0.tenant.environment.rawValue) (\(Figures.grouped($0.entries)))"
        }
        let (what, done) =
            kinds == [.donation] ? ("donations", "simulated") : ("evaluations", "tested")
        if all.isEmpty {
            throw NothingTested(message: "there are no recorded \(what): nothing was \(done)")
        }
        let help = "; name one with --app and --environment: \(names.joined(separator: ", "))"
        throw Fault(
            description: (found.isEmpty ? "no \(what) of that app and environment" : "several apps")
                + help)
    }

    /// Hands evaluations and labels of an app to `body`, in ledger order. Says how many were erased
    /// and so are missing.
    func each(
        of tenant: Tenant, readsShadows: Bool = false, _ body: (Entry) throws -> Void
    ) throws {
        var reader = RecordedEvaluationReader(readsShadows: readsShadows)
        var erased = 0
        defer {
            if erased > 0 { Terminal.say("left out: \(Figures.counted(erased, "erased record"))") }
        }
        switch self {
        case .folder(let ledger):
            erased = try ledger.evaluationsAndLabels(of: tenant) { sequence, isLabel, payload in
                if isLabel {
                    let record = try RecordReader(payload, sequence: sequence)
                    try body(.label(LabelRecord(payload: record), sequence: sequence))
                } else {
                    try body(
                        .evaluation(
                            JSONReader.withCursor(payload, limits: Self.limits) {
                                try reader.read($0, sequence: sequence)
                            }))
                }
            }
            guard readsShadows else { return }
            erased += try ledger.donations(of: tenant) { sequence, payload in
                let donation = try JSONReader.withCursor(payload, limits: Self.limits) {
                    try RecordedDonation($0, sequence: sequence)
                }
                if let donation { try body(.donation(donation)) }
            }
        case .file(let path):
            var last: Int64 = 0
            try Self.lines(of: path) { line, number in
                let (sequence, entry) = try Self.entry(
                    line, of: tenant, &reader, readsShadows, path, number, &erased)
                // In another order windows would see what came later, or the same thing twice.
                guard sequence > last else {
                    throw Fault(
                        description: "\(path):\(number): entry \(sequence) comes after entry "
                            + "\(last): a stream has each entry once, the oldest first")
                }
                last = sequence
                if let entry { try body(entry) }
            }
        }
    }

    /// The number of a line's entry, and the entry if it is an evaluation or a label of that app and
    /// not erased.
    private static func entry(
        _ line: ArraySlice<UInt8>, of tenant: Tenant, _ reader: inout RecordedEvaluationReader,
        _ readsShadows: Bool, _ path: String, _ number: Int, _ erased: inout Int
    ) throws -> (sequence: Int64, entry: Entry?) {
        do {
            var sequence: Int64 = 0
            var label: Int64?
            var donation: RecordedDonation?
            let evaluation = try cursor(line, path, number) { root -> RecordedEvaluation? in
                sequence = root["envelope"]?["sequence"]?.int ?? 0
                guard let envelope = root["envelope"], envelope["app"]?.string == tenant.app,
                    envelope["environment"]?.string == tenant.environment.rawValue
                else { return nil }
                guard let payload = root["payload"] else {
                    let kind = envelope["kind"]
                    if kind?.isText("evaluation") == true
                        || readsShadows && kind?.isText("donation") == true
                    {
                        erased += 1
                    }
                    return nil
                }
                if envelope["kind"]?.isText("label") == true { label = sequence }
                if readsShadows, envelope["kind"]?.isText("donation") == true {
                    donation = try RecordedDonation(payload, sequence: sequence)
                }
                guard envelope["kind"]?.isText("evaluation") == true else { return nil }
                return try reader.read(payload, sequence: sequence)
            }
            if let evaluation { return (sequence, .evaluation(evaluation)) }
            if let donation { return (sequence, .donation(donation)) }
            guard let label else { return (sequence, nil) }
            let payload = try JSONReader.parse(Array(line), limits: limits)["payload"] ?? .null
            let record = try LabelRecord(payload: RecordReader(value: payload, sequence: label))
            return (sequence, .label(record, sequence: label))
        } catch let error as CorruptEntry {
            throw Fault(description: "\(path):\(number): \(error.detail)")
        }
    }

    // MARK: Files

    private static func sum(_ counted: [(tenant: Tenant, entries: Int64)])
        -> [(tenant: Tenant, entries: Int64)]
    {
        var counts: [Tenant: Int64] = [:]
        for (tenant, entries) in counted { counts[tenant, default: 0] += entries }
        return counts.map { ($0.key, $0.value) }.sorted {
            ($0.0.app, $0.0.environment.rawValue) < ($1.0.app, $1.0.environment.rawValue)
        }
    }

    private static func tenants(in path: String, _ kinds: [RecordKind]) throws
        -> [(tenant: Tenant, entries: Int64)]
    {
        var found: [(tenant: Tenant, entries: Int64)] = []
        try lines(of: path) { line, number in
            try cursor(line, path, number) { root in
                let envelope = root["envelope"]
                guard let kind = envelope?["kind"],
                    kinds.contains(where: { kind.isText($0.rawValue) }),
                    let app = envelope?["app"]?.string,
                    let environment = envelope?["environment"]?.string.flatMap(
                        DataEnvironment.init)
                else { return }
                found.append((Tenant(app: app, environment: environment), 1))
            }
        }
        return sum(found)
    }

    /// Parses a line that must be an entry.
    private static func cursor<R>(
        _ line: ArraySlice<UInt8>, _ path: String, _ number: Int, _ body: (JSONCursor) throws -> R
    ) throws -> R {
        do {
            return try line.withUnsafeBytes { bytes in
                try JSONReader.withCursor(bytes, limits: limits) { root in
                    guard root["envelope"] != nil else {
                        throw Fault(
                            description: "\(path):\(number): not an entry of a ledger: "
                                + "there is no `envelope`")
                    }
                    return try body(root)
                }
            }
        } catch let error as JSONError {
            throw Fault(description: "\(path):\(number):\(error.offset + 1): \(error.message)")
        }
    }

    private static let limits = JSONLimits(bytes: longestLine, depth: 100)
    private static let longestLine = 16 << 20

    /// Hands the lines of a file that are not blank to `body`, with their numbers from 1.
    private static func lines(
        of path: String, _ body: (ArraySlice<UInt8>, Int) throws -> Void
    ) throws {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Fault(description: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        if path == "-" { lseek(descriptor, 0, SEEK_SET) }
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var number = 0
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Fault(description: "\(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            pending += buffer[..<count]
            var start = 0
            while let end = pending[start...].firstIndex(of: 0x0A) {
                number += 1
                if end > start { try body(pending[start..<end], number) }
                start = end + 1
            }
            pending.removeFirst(start)
            guard pending.count <= longestLine else {
                throw Fault(description: "\(path):\(number + 1): a line of more than 16 MiB")
            }
        }
        if !pending.isEmpty { try body(pending[...], number + 1) }
    }
}

import Engine
import Glibc
import Ledger
import Storage

/// `discern audit verify`: recomputes the whole ledger and compares it with checkpoints.
enum AuditVerifyCommand {
    static var command: Command {
        Command(
            name: "audit verify", summary: "Recompute the ledger and compare it with checkpoints.",
            options: [
                DataAccess.option, CheckpointArguments.folder, CheckpointArguments.note,
                CheckpointArguments.key,
                .value("to", nil, "SIZE", "only the first so many entries"),
            ],
            discussion: """
                Reads every entry, beside a running server too, and changes nothing: envelope, row,
                digest of the payload, leaf, stored hashes, order of numbers and times. A payload that
                is gone must be named by a later erasure. The root is
                compared with the latest checkpoint, or with those of --checkpoint, whose signature
                is checked first.

                Exit status 6: something is wrong; the first place is named. A checkpoint and a key
                that were kept elsewhere find more than those beside the ledger, which whoever
                changed it may have changed as well.
                """,
            run: { arguments in
                try CheckpointArguments.telling("audit verify") { try run(arguments) }
            })
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        // Before the size is read: a server may make another meanwhile.
        let notes = try CheckpointArguments.trusted(arguments)
        let data = DataAccess.folder(arguments)
        if access(data + "/discern.db", F_OK) != 0, let note = notes.first {
            throw LedgerFault(
                sequence: 0, what: "there is no database in \(data), and a \(note.text)")
        }
        try DataAccess.requireDatabase(arguments)
        let ledger = try LedgerFile(folder: data)
        let whole = try ledger.size()
        if let stray = try ledger.strayEntry() {
            throw LedgerFault(sequence: 0, what: "there is an entry with the number \(stray)")
        }
        let most = Int(clamping: whole)
        var size = whole
        if arguments["to"] != nil {
            size = UInt64(try arguments.number("to", in: 0...most) ?? 0)
        }
        let start = clock()
        let run = try verify(
            data, size: size, marks: notes.map(\.signed.checkpoint.size).filter { $0 <= size })
        let seconds = max(clock() - start, 1e-9)
        let compared = notes.filter { size == whole || $0.signed.checkpoint.size <= size }
        try compare(run.verification, compared, whole: whole)
        report(run, compared, seconds)
        return ExitStatus.fine
    }

    private struct Run {
        var verification = LedgerVerification()
        var bytes = 0
        var erased = 0
    }

    /// Stretches that are read at the same time, and then put together.
    private static let group = 16

    private enum Outcome: Sendable {
        case read(VerifiedStretch)
        case failed(any Error)
    }

    private static func verify(_ data: String, size: UInt64, marks: [UInt64]) throws -> Run {
        let progress = Progress("verifying")
        defer { progress.end() }
        var run = Run()
        let count = Int((size + LedgerVerification.stretch - 1) / LedgerVerification.stretch)
        let marks = Array(Set(marks)).sorted()
        let erasures = try LedgerFile(folder: data).namedErasures()
        for first in stride(from: 0, to: count, by: group) {
            let outcomes = Parallel.map(min(group, count - first)) { index -> Outcome in
                let range = LedgerVerification.range(first + index, of: size)
                do {
                    return .read(
                        try LedgerFile(folder: data).verify(
                            range, marks: marks.filter(range.contains), erasures: erasures))
                } catch {
                    return .failed(error)
                }
            }
            for outcome in outcomes {
                switch outcome {
                case .failed(let error): throw error
                case .read(let stretch):
                    try run.verification.add(stretch)
                    run.bytes += stretch.bytes
                    run.erased += stretch.erased
                }
            }
            progress.show(
                "\(Figures.grouped(run.verification.size)) of \(Figures.grouped(size)) entries")
        }
        return run
    }

    /// Notes in the order of their sizes, so that the first that disagrees is named, and the last
    /// that agrees before it.
    private static func compare(
        _ verification: LedgerVerification, _ notes: [CheckpointArguments.Note], whole: UInt64
    ) throws {
        var agreed: UInt64 = 0
        for note in notes.sorted(by: { $0.signed.checkpoint.size < $1.signed.checkpoint.size }) {
            let checkpoint = note.signed.checkpoint
            guard let root = verification.roots[checkpoint.size] else {
                throw LedgerFault(
                    sequence: Int64(clamping: whole + 1),
                    what:
                        "missing, and all after it: the end was cut off, or this is an older copy",
                    expected: "\(checkpoint.size) entries (\(note.file))",
                    found: "\(whole) entries")
            }
            guard root == checkpoint.root else {
                throw LedgerFault(
                    sequence: 0,
                    what:
                        "entries \(agreed + 1) to \(checkpoint.size) were rewritten, or some of them: "
                        + "their root is not that of the \(note.text)",
                    expected: checkpoint.root.hex, found: root.hex)
            }
            agreed = checkpoint.size
        }
    }

    private static func report(
        _ run: Run, _ notes: [CheckpointArguments.Note], _ seconds: Double
    ) {
        let size = run.verification.size
        Terminal.print(
            "\(Figures.grouped(size)) entries, \(Figures.tenths(Double(run.bytes) / 1e6)) MB in "
                + "\(Figures.tenths(seconds)) s: \(Figures.grouped(Int64(Double(size) / seconds))) "
                + "entries/s, \(Figures.tenths(Double(run.bytes) / 1e6 / seconds)) MB/s")
        if run.erased > 0 {
            Terminal.print(
                "\(Figures.grouped(run.erased)) without a payload, as erasures in the ledger say")
        }
        Terminal.print("root \(run.verification.root)")
        guard let last = notes.max(by: { $0.signed.checkpoint.size < $1.signed.checkpoint.size })
        else {
            Terminal.print(
                "no checkpoint of so many entries or fewer to compare with: a ledger rewritten as a whole looks the same"
            )
            return
        }
        let checkpoint = last.signed.checkpoint
        Terminal.print(
            "as signed by \(checkpoint.origin): \(Figures.grouped(checkpoint.size)) entries"
                + (notes.count > 1 ? ", \(Figures.grouped(notes.count)) checkpoints" : "")
                + (size > checkpoint.size ? "; the rest is newer than that" : ""))
    }

    private static func clock() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

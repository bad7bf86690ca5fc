/// Makes the changes that findings propose, as far as they make things better.
public struct FixRun: Sendable {
    /// A change that was made.
    public struct Change: Sendable, Hashable {
        /// The finding that is gone.
        public let finding: PolicyDiagnostic
        /// What was done.
        public let fix: PolicyFix
    }

    /// All files, with the changes in them.
    public private(set) var files: [PolicyLoader.File]
    /// What was done, in the order in which it was.
    public private(set) var changes: [Change] = []
    /// What loading the files gives now.
    public private(set) var load: PolicyLoad
    private let loader: PolicyLoader

    /// One finding can hide another; more rounds than this no file needs.
    private static let rounds = 10

    /// Loads files and changes them, until nothing more can be made better.
    public init(_ files: [PolicyLoader.File], with loader: PolicyLoader) {
        self.files = files
        self.loader = loader
        load = loader.load(files)
        for _ in 0..<Self.rounds {
            if !round() { break }
        }
    }

    /// The paths of the files that were changed.
    public var changedPaths: Set<String> { Set(changes.map(\.finding.file)) }

    /// Whether anything was changed.
    private mutating func round() -> Bool {
        let proposed = Self.proposed(load)
        guard !proposed.isEmpty else { return false }
        if take(Self.apart(proposed)) { return true }
        // Together they make things worse: those are taken that help by themselves.
        var isBetter = false
        for change in proposed where load.diagnostics.contains(change.finding) {
            if take([change]) { isBetter = true }
        }
        return isBetter
    }

    /// Makes the changes, if less is found in each changed file afterwards than before. What is
    /// only found once they are made may be mended as well before that is judged.
    private mutating func take(_ changes: [Change]) -> Bool {
        var (all, proposed) = (changes, changes)
        var (changed, last) = (files, load)
        for _ in 0..<Self.rounds where !proposed.isEmpty {
            changed = changed.map { Self.applying(proposed, to: $0, last.texts[$0.path]) }
            let next = loader.load(changed)
            if isBetter(next, Set(all.map(\.finding.file))) {
                (files, load) = (changed, next)
                self.changes += all
                return true
            }
            let known = Set(last.diagnostics.map(\.message))
            proposed = Self.apart(
                Self.proposed(next).filter { !known.contains($0.finding.message) })
            all += proposed
            last = next
        }
        return false
    }

    private static func proposed(_ load: PolicyLoad) -> [Change] {
        load.diagnostics.compactMap { finding in
            finding.fix.map { Change(finding: finding, fix: $0) }
        }
    }

    private static func applying(
        _ changes: [Change], to file: PolicyLoader.File, _ text: SourceText?
    ) -> PolicyLoader.File {
        let edits = changes.filter { $0.finding.file == file.path }.flatMap(\.fix.edits)
        guard !edits.isEmpty, let text else { return file }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return PolicyLoader.File(
            path: file.path,
            bytes: (file.bytes.starts(with: mark) ? mark : [])
                + Array(apply(edits, to: text).utf8))
    }

    /// Less must be found in every changed file. In the others nothing more, unless a file could
    /// not be used before and can be now: what depends on it is only then looked at.
    private func isBetter(_ next: PolicyLoad, _ changed: Set<String>) -> Bool {
        let isUsableNow = changed.contains { path in
            Self.weight(load, path).errors > 0 && Self.weight(next, path).errors == 0
        }
        return files.allSatisfy { file in
            let (before, after) = (Self.weight(load, file.path), Self.weight(next, file.path))
            return changed.contains(file.path) ? after < before : isUsableNow || after <= before
        }
    }

    /// How bad the findings in a file are: errors first.
    private static func weight(_ load: PolicyLoad, _ path: String) -> (errors: Int, all: Int) {
        let found = load.diagnostics.filter { $0.file == path }
        return (found.count { $0.severity == .error }, found.count)
    }

    /// The changes without those that touch what an earlier one changes.
    private static func apart(_ changes: [Change]) -> [Change] {
        var taken: [String: [SourceRange]] = [:]
        return changes.filter { change in
            let file = change.finding.file
            let ranges = change.fix.edits.map(\.range)
            let overlaps = ranges.contains { range in
                taken[file, default: []].contains { $0.start < range.end && range.start < $0.end }
            }
            if !overlaps { taken[file, default: []] += ranges }
            return !overlaps
        }
    }

    private static func apply(_ edits: [PolicyFix.Edit], to text: SourceText) -> String {
        var scalars = text.scalars
        for edit in edits.sorted(by: { $0.range.start > $1.range.start }) {
            let start = text.index(of: edit.range.start)
            let end = max(start, text.index(of: edit.range.end))
            scalars.replaceSubrange(start..<end, with: edit.replacement.unicodeScalars)
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

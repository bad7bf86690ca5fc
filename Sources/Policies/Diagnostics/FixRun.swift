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
        let proposed = load.diagnostics.compactMap { finding in
            finding.fix.map { Change(finding: finding, fix: $0) }
        }
        guard !proposed.isEmpty else { return false }
        if take(Self.apart(proposed)) { return true }
        // Together they make things worse: those are taken that help by themselves.
        var isBetter = false
        for change in proposed where load.diagnostics.contains(change.finding) {
            if take([change]) { isBetter = true }
        }
        return isBetter
    }

    /// Makes the changes, if less is found afterwards than before.
    private mutating func take(_ changes: [Change]) -> Bool {
        var changed = files
        for index in changed.indices {
            let path = changed[index].path
            let edits = changes.filter { $0.finding.file == path }.flatMap(\.fix.edits)
            guard !edits.isEmpty, let text = load.texts[path] else { continue }
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let start = changed[index].bytes.starts(with: mark) ? mark : []
            changed[index] = PolicyLoader.File(
                path: path, bytes: start + Array(Self.apply(edits, to: text).utf8))
        }
        let next = loader.load(changed)
        guard Self.weight(next) < Self.weight(load) else { return false }
        files = changed
        load = next
        self.changes += changes
        return true
    }

    /// How bad findings are: errors first.
    private static func weight(_ load: PolicyLoad) -> (errors: Int, all: Int) {
        (load.diagnostics.count { $0.severity == .error }, load.diagnostics.count)
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

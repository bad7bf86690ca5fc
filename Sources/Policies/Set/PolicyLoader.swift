import Ledger
import Time

/// Turns files into a policy set. Pure: bytes in, a set or findings out.
public struct PolicyLoader: Sendable {
    /// A file as it was read.
    public struct File: Sendable {
        /// The path, as findings name it.
        public let path: String
        /// The exact bytes.
        public let bytes: [UInt8]
        /// Why it could not be read, if it could not: a finding, so that the other files are
        /// checked all the same.
        public let fault: String?

        /// A file.
        public init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
            fault = nil
        }

        /// A file that could not be read.
        public init(path: String, fault: String) {
            self.path = path
            bytes = []
            self.fault = fault
        }
    }

    /// The zones that `zone:` may name; nil accepts any name that looks like one.
    public var zones: ZoneDatabase?
    /// Where a model that is not among the files was looked for, and how to give it: said with the
    /// finding.
    public var modelHelp: String?
    /// How plain policies are read.
    package var plain = PlainOptions()

    /// A loader.
    public init(zones: ZoneDatabase? = nil) { self.zones = zones }

    /// Loads files, in whatever order they are given. The result depends on paths and bytes alone.
    public func load(_ files: [File]) -> PolicyLoad {
        var run = LoadRun(zones: zones, plain: plain, modelHelp: modelHelp)
        run.open(files)
        run.readModels()
        run.readPolicies()
        run.readTests()
        run.checkVersions()
        run.checkCategories()
        return run.finish()
    }
}

/// One pass over the files of a set. Models come first, since policies name them; tests last.
private struct LoadRun {
    let zones: ZoneDatabase?
    let plain: PlainOptions
    let modelHelp: String?
    private var open: [OpenFile] = []
    private var models: [ModelFile] = []
    private var entries: [PolicySet.Entry] = []
    private var tests: [PolicySet.Tests] = []
    private var roles: [String: (LoadedFile.Role, String?)] = [:]
    private var unopened: [PolicyDiagnostic] = []

    init(zones: ZoneDatabase?, plain: PlainOptions, modelHelp: String?) {
        self.zones = zones
        self.plain = plain
        self.modelHelp = modelHelp
    }

    private struct OpenFile {
        let file: YAMLFile
        let source: PolicySource
        let role: LoadedFile.Role
    }

    mutating func open(_ files: [PolicyLoader.File]) {
        let sorted = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        for file in sorted {
            if let fault = file.fault {
                refuse(file, .unreadable, "the file cannot be read: \(fault)")
                continue
            }
            guard open.last?.source.path != file.path else {
                if open.last?.source.bytes != file.bytes {
                    refuse(file, .sameFileTwice, "the file is given twice, with different content")
                }
                continue
            }
            let yaml = YAMLFile(path: file.path, bytes: file.bytes)
            let source = PolicySource(
                path: file.path, bytes: file.bytes, digest: SHA256.hash(file.bytes).hex)
            let isAdmission =
                plain.readsAdmissionPolicies && (yaml.root.map(AdmissionPolicy.isOne) ?? false)
            let role = isAdmission ? .plain : FileRole.of(yaml, path: file.path)
            open.append(OpenFile(file: yaml, source: source, role: role))
        }
    }

    private mutating func refuse(_ file: PolicyLoader.File, _ code: Code, _ message: String) {
        let start = SourcePosition(line: 1, column: 1)
        unopened.append(
            PolicyDiagnostic(
                severity: .error, code: code.rawValue, message: message, file: file.path,
                range: SourceRange(start: start, end: start)))
    }

    private func files(_ roles: LoadedFile.Role...) -> [OpenFile] {
        open.filter { roles.contains($0.role) }
    }

    mutating func readModels() {
        for entry in files(.model) {
            guard let root = entry.file.root,
                let model = ScorecardReader(sink: entry.file.sink)
                    .read(root, source: entry.source)
            else { continue }
            models.append(model)
            roles[entry.source.path] = (.model, model.reference)
        }
    }

    mutating func readPolicies() {
        for entry in files(.trust, .reviewPrompt, .plain) {
            guard let root = entry.file.root else { continue }
            let sink = entry.file.sink
            let policy: Policy? =
                switch entry.role {
                case .trust:
                    TrustPolicyReader(sink: sink, models: models, modelHelp: modelHelp)
                        .read(root, source: entry.source).map(Policy.trust)
                case .reviewPrompt:
                    ReviewPolicyReader(sink: sink, zones: zones)
                        .read(root, source: entry.source).map(Policy.reviewPrompt)
                default:
                    PlainPolicyReader(
                        sink: sink, environments: environments(beside: entry), options: plain
                    ).read(root, source: entry.source).map(Policy.plain)
                }
            guard let policy else { continue }
            entries.append(PolicySet.Entry(policy: policy, source: entry.source))
            roles[entry.source.path] = (entry.role, policy.reference)
        }
    }

    private func environments(beside policy: OpenFile) -> [YAMLNode] {
        let folder = FileRole.folder(policy.source.path)
        return files(.environment).filter { FileRole.folder($0.source.path) == folder }
            .compactMap(\.file.root)
    }

    mutating func readTests() {
        let set = PolicySet(entries: entries, models: models, tests: [])
        for entry in files(.tests) {
            guard let root = entry.file.root else { continue }
            let folder = FileRole.folder(entry.source.path)
            let beside = entries.filter {
                $0.policy.version == nil && FileRole.folder($0.source.path) == folder
            }
            let reader = TestFileReader(
                sink: entry.file.sink, set: set,
                plain: beside.count == 1 ? beside[0].policy : nil,
                someFailed: !unopened.isEmpty
                    || entries.count < files(.trust, .reviewPrompt, .plain, .unusable).count)
            if let found = reader.read(root) { tests.append(found) }
        }
    }

    /// The content of a version never changes, so two files cannot both be that version.
    mutating func checkVersions() {
        var first: [String: PolicySource] = [:]
        let named =
            entries.filter { $0.policy.version != nil }.map {
                ($0.policy.reference, $0.source, "policy")
            }
            + models.map { ($0.reference, $0.source, "model") }
            + entries.filter { $0.policy.version == nil }
            .map { ($0.policy.reference, $0.source, "plain policy") }
        for (reference, source, what) in named {
            let key = what + " " + reference
            guard let earlier = first[key] else {
                first[key] = source
                continue
            }
            guard let file = open.first(where: { $0.source.path == source.path })?.file else {
                continue
            }
            let isSame = earlier.bytes == source.bytes
            file.sink.error(
                .sameVersionOtherContent,
                isSame
                    ? "the \(what) `\(reference)` is loaded twice"
                    : "the \(what) `\(reference)` has other content in another file",
                at: nameRange(file),
                help: "the other file is `\(earlier.path)`"
                    + (isSame ? "" : "; content that changes needs another `version`"))
        }
    }

    /// One policy acts for a category, and one for review prompts. Two candidates are no error,
    /// but a load that lets all of them act is refused.
    func checkCategories() {
        var taken: [String: (name: String, path: String)] = [:]
        for entry in entries {
            let slots: [String] =
                switch entry.policy {
                case .trust(let policy): policy.categories.map { "`\($0.rawValue)`" }
                case .reviewPrompt: ["review prompts"]
                case .plain: []
                }
            for slot in slots {
                guard let other = taken[slot], other.name != entry.policy.name else {
                    taken[slot] = (entry.policy.name, entry.source.path)
                    continue
                }
                guard let file = open.first(where: { $0.source.path == entry.source.path })?.file
                else { continue }
                file.sink.warning(
                    .categoryTaken,
                    "`\(entry.policy.name)` and `\(other.name)` are both for \(slot)",
                    at: nameRange(file, first: "categories"),
                    help: "only one can act; the other policy is in `\(other.path)`")
            }
        }
    }

    private func nameRange(_ file: YAMLFile, first: String = "version") -> SourceRange {
        guard case .mapping(let entries)? = file.root?.content,
            let entry = entries.first(where: { $0.key == first })
                ?? entries.first(where: { $0.key == "name" })
        else {
            let start = SourcePosition(line: 1, column: 1)
            return SourceRange(start: start, end: start)
        }
        return entry.keyRange
    }

    func finish() -> PolicyLoad {
        var diagnostics = unopened
        var texts: [String: SourceText] = [:]
        var files: [LoadedFile] = []
        for entry in open {
            diagnostics += entry.file.sink.finish()
            texts[entry.source.path] = entry.file.sink.text
            files.append(
                LoadedFile(
                    path: entry.source.path, role: entry.role,
                    reference: roles[entry.source.path]?.1, digest: entry.source.digest))
        }
        let failed = diagnostics.contains { $0.severity == .error }
        return PolicyLoad(
            set: failed ? nil : PolicySet(entries: entries, models: models, tests: tests),
            files: files, diagnostics: diagnostics, texts: texts)
    }
}

import Glibc
import Policies

/// The policy, model and test files below paths.
struct PolicyFiles {
    /// A path that could not be read.
    struct Problem: Error {
        let path: String
        let message: String
    }

    /// The files, sorted by path, each once however many paths lead to it.
    private(set) var files: [PolicyLoader.File] = []
    private var seen: Set<Identity> = []

    /// The file behind a path; a file has many paths.
    private struct Identity: Hashable {
        let device: UInt
        let number: UInt
    }

    private static let deepest = 32

    /// Reads files, and the YAML files of folders with all below them. With a file that is named by
    /// itself comes what belongs to it, so that it gives the same findings as its folder does.
    static func read(_ paths: [String], withCompanions: Bool = true) -> Result<PolicyFiles, Problem>
    {
        var result = PolicyFiles()
        do throws(Problem) {
            for path in paths {
                let kind = try status(path).st_mode & S_IFMT
                if kind == S_IFDIR {
                    try result.readFolder(path, depth: 0)
                } else {
                    guard kind == S_IFREG || isOpen(path) else { throw noFile(path) }
                    try result.readFile(path)
                    if withCompanions { try result.readCompanions(of: path) }
                }
            }
            if withCompanions { try result.readModelsBeside() }
        } catch {
            return .failure(error)
        }
        result.files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return .success(result)
    }

    /// Models beside a policy, the policy of a test file, the environment of a plain policy.
    private mutating func readCompanions(of path: String) throws(Problem) {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let folder = String(path[..<slash])
        let name = String(path[slash...])
        if Self.exists(folder + "models", S_IFDIR) { try readFolder(folder + "models", depth: 1) }
        let listed = Files.list(folder.isEmpty ? "." : folder, ending: "_config.yaml")
        var companions =
            ["config.yaml"] + listed.compactMap { $0.split(separator: "/").last.map(String.init) }
        if name.hasSuffix("_test.yaml") {
            companions.append(String(name.dropLast("_test.yaml".count)) + ".yaml")
        } else if name == "tests.yaml" {
            companions.append("policy.yaml")
        }
        for companion in companions where Self.exists(folder + companion, S_IFREG) {
            try readFile(folder + companion)
        }
    }

    /// Models that lie in the folder of the policy that names them. What belongs to the files of a
    /// folder is read with it.
    private mutating func readModelsBeside() throws(Problem) {
        for policy in files {
            guard let named = policy.namedModel, missingModels.contains(named) else { continue }
            let slash = policy.path.lastIndex(of: "/")
            let folder = slash.map { String(policy.path[..<$0]) } ?? "."
            for ending in [".yaml", ".yml"] {
                for path in Files.list(folder.isEmpty ? "/" : folder, ending: ending)
                where Self.exists(path, S_IFREG) {
                    var beside = PolicyFiles()
                    try beside.readFile(path)
                    if beside.files.first?.heldModel == named { try readFile(path) }
                }
            }
        }
    }

    /// Adds a file that was found elsewhere.
    mutating func add(_ file: PolicyLoader.File) { files.append(file) }

    private static func problem(_ path: String) -> Problem {
        Problem(path: path, message: String(cString: strerror(errno)))
    }

    private static func noFile(_ path: String) -> Problem {
        Problem(path: path, message: "neither a file nor a folder")
    }

    /// Whether a path names what is open already, such as standard input or a shell's `<(…)`.
    private static func isOpen(_ path: String) -> Bool {
        path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].contains { path.hasPrefix($0) }
    }

    private static func status(_ path: String) throws(Problem) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw problem(path) }
        return status
    }

    private static func exists(_ path: String, _ kind: mode_t) -> Bool {
        (try? status(path)).map { $0.st_mode & S_IFMT == kind } ?? false
    }

    /// Whether this is the first path that leads to the file or folder.
    private mutating func isNew(_ status: stat) -> Bool {
        seen.insert(Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))).inserted
    }

    private mutating func readFolder(_ path: String, depth: Int) throws(Problem) {
        guard depth <= Self.deepest else {
            throw Problem(path: path, message: "folders nest deeper than \(Self.deepest)")
        }
        guard isNew(try Self.status(path)) else { return }
        guard let folder = opendir(path) else { throw Self.problem(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // Hidden files are editors' and version control's.
            if !name.hasPrefix(".") { names.append(name) }
        }
        let prefix = path == "." ? "" : path.hasSuffix("/") ? path : path + "/"
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try readEntry(prefix + name, depth: depth)
        }
    }

    /// A file of a folder that cannot be read is a finding like others: nobody named it, and the
    /// rest of the folder is looked at all the same.
    private mutating func readEntry(_ path: String, depth: Int) throws(Problem) {
        let isPolicy = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
        do throws(Problem) {
            let kind = try Self.status(path).st_mode & S_IFMT
            if kind == S_IFDIR { return try readFolder(path, depth: depth + 1) }
            guard isPolicy else { return }
            // Opening a pipe would wait for somebody to write to it.
            guard kind == S_IFREG else { throw Self.noFile(path) }
            try readFile(path)
        } catch  where isPolicy && error.path == path {
            files.append(PolicyLoader.File(path: path, fault: error.message))
        }
    }

    /// What is said, by every command, where there is nothing to work on.
    static func nothing(in paths: [String]) -> String {
        "there are no policies in \(paths.joined(separator: ", "))"
    }

    private mutating func readFile(_ path: String) throws(Problem) {
        guard isNew(try Self.status(path)) else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // One byte above the limit is enough for the loader to refuse the file.
        while bytes.count <= PolicyLimits.fileBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.problem(path) }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        files.append(PolicyLoader.File(path: path, bytes: bytes))
    }
}

import Glibc
import Policies

/// The policy, model and test files below paths.
struct PolicyFiles {
    /// A path that could not be read.
    struct Problem: Error {
        let path: String
        let message: String
    }

    /// The files, sorted by path, each once.
    private(set) var files: [PolicyLoader.File] = []
    private var seen: Set<String> = []

    private static let deepest = 32

    /// Reads files, and the YAML files of folders with all below them. Beside a policy that is
    /// named by itself, the `models` folder is read as well, so that one file gives the same
    /// findings as its folder does.
    static func read(_ paths: [String]) -> Result<PolicyFiles, Problem> {
        var result = PolicyFiles()
        do {
            for path in paths {
                if try result.isFolder(path) {
                    try result.readFolder(path, depth: 0)
                } else {
                    try result.readFile(path)
                    let folder = path.split(separator: "/", omittingEmptySubsequences: false)
                        .dropLast().joined(separator: "/")
                    let models =
                        (folder.isEmpty && !path.hasPrefix("/") ? "" : folder + "/") + "models"
                    if (try? result.isFolder(models)) == true {
                        try result.readFolder(models, depth: 1)
                    }
                }
            }
        } catch {
            return .failure(error)
        }
        result.files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return .success(result)
    }

    private static func problem(_ path: String) -> Problem {
        Problem(path: path, message: String(cString: strerror(errno)))
    }

    private func isFolder(_ path: String) throws(Problem) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.problem(path) }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func readFolder(_ path: String, depth: Int) throws(Problem) {
        guard depth <= Self.deepest else {
            throw Problem(path: path, message: "folders nest deeper than \(Self.deepest)")
        }
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
        let prefix = path.hasSuffix("/") ? path : path + "/"
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            if try isFolder(prefix + name) {
                try readFolder(prefix + name, depth: depth + 1)
            } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
                try readFile(prefix + name)
            }
        }
    }

    private mutating func readFile(_ path: String) throws(Problem) {
        guard seen.insert(path).inserted else { return }
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

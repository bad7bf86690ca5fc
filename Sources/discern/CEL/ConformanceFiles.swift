import CELConformance
import Glibc
import JSON
import Policies

/// The suites below a folder.
struct ConformanceFiles {
    /// Why something could not be read, with its path.
    struct Problem: Error {
        let message: String
    }

    private(set) var files: [ConformanceFile] = []
    private(set) var cases: [(content: PolicyCase, expectations: PolicyExpectations)] = []

    private static let deepest = 8
    private static let expectations = "expectations.json"

    init(below folder: String) throws(Problem) {
        try search(folder, depth: 0)
        guard !files.isEmpty || !cases.isEmpty else {
            throw Problem(message: "\(folder): no suite in this folder")
        }
    }

    private mutating func search(_ folder: String, depth: Int) throws(Problem) {
        guard depth <= Self.deepest else { return }
        let entries = Files.list(folder, ending: "")
        if entries.contains(where: { $0.hasSuffix("/" + PolicyCase.policyFile) }) {
            try addCase(folder)
            return
        }
        for path in entries {
            if Files.isFolder(path) {
                if !path.hasSuffix("/.") && !path.hasSuffix("/..") {
                    try search(path, depth: depth + 1)
                }
            } else if path.hasSuffix(".json"), !path.hasSuffix("/" + Self.expectations) {
                // Other JSON may lie about; only what has the form of a suite is one.
                let json = try Self.json(path)
                if let file = try? ConformanceFile(name: Files.name(path), json) {
                    files.append(file)
                } else {
                    Terminal.say("\(path): no suite, left out")
                }
            }
        }
    }

    private mutating func addCase(_ folder: String) throws(Problem) {
        var contents: [PolicyLoader.File] = []
        for path in Files.list(folder, ending: ".yaml") {
            contents.append(
                PolicyLoader.File(path: Files.name(path) + ".yaml", bytes: try Self.bytes(path)))
        }
        let expectations = folder + "/../" + Self.expectations
        let expected =
            access(expectations, F_OK) == 0
            ? PolicyExpectations(try Self.json(expectations)) : .none
        let name = folder.split(separator: "/").last.map(String.init) ?? folder
        cases.append((PolicyCase(name: name, files: contents), expected))
    }

    /// A file that must be a suite.
    static func suiteFile(_ path: String) throws(Problem) -> ConformanceFile {
        let json = try json(path)
        do {
            return try ConformanceFile(name: Files.name(path), json)
        } catch {
            throw Problem(message: "\(path): \(error.message)")
        }
    }

    private static func json(_ path: String) throws(Problem) -> JSONValue {
        let bytes = try bytes(path)
        do {
            return try JSONReader.parse(bytes, limits: JSONLimits(bytes: 64 << 20))
        } catch {
            throw Problem(message: "\(path): \(error.message) at offset \(error.offset)")
        }
    }

    private static func bytes(_ path: String) throws(Problem) -> [UInt8] {
        guard let bytes = Files.read(path) else {
            throw Problem(message: "\(path): \(String(cString: strerror(errno)))")
        }
        return bytes
    }
}

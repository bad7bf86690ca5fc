import Foundation
import Testing

/// The repository as files: its package description and its sources.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    struct Source: Sendable, CustomTestStringConvertible {
        /// From the repository's root.
        var path: String
        var lines: [Substring]

        /// `Engine` of `Sources/Engine/Loop/Core.swift`.
        var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        var testDescription: String { path }
    }

    /// Every Swift file under `Sources`.
    static let sources: [Source] = {
        let folder = root.appending(path: "Sources")
        let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
        return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
            .compactMap { name in
                guard
                    let text = try? String(
                        contentsOf: folder.appending(path: name), encoding: .utf8)
                else { return nil }
                return Source(
                    path: "Sources/" + name,
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
    }()

    /// What stands on which floor. Those of one floor do not know each other, but for what is
    /// said beside.
    static let floors: [(floor: Int, modules: [String])] = [
        (
            0,
            ["CSQLite", "CMicroHTTPD", "CCrypto", "CYAML", "CCurl", "CMalloc", "CSimdjson", "CRE2"]
        ),
        (1, ["CEL", "Ledger", "JSON", "Time"]),
        (2, ["Policies", "Scoring", "CELConformance"]),
        (3, ["TrustInsights", "ReviewPrompts"]),
        (4, ["Engine"]),
        (5, ["Server", "Storage"]),
        (6, ["discern"]),
    ]

    /// On these floors a module may use a neighbour that is listed before: encodings and time
    /// carry the others of their floor, policies name the models that score.
    static let neighbours: Set<Int> = [1, 2]

    static func floor(of module: String) -> Int? {
        floors.first { $0.modules.contains(module) }?.floor
    }

    /// Parts of the system that any module may use.
    static let system: Set<String> = ["Glibc", "Synchronization"]

    /// The imports of a module's sources.
    static func imports(in source: Source) -> [(line: Int, module: String)] {
        source.lines.enumerated().compactMap { index, line in
            var words = line.split(separator: " ").map(String.init)
            while let first = words.first, first != "import",
                first.hasPrefix("@")
                    || ["public", "package", "internal", "private"].contains(first)
            { words.removeFirst() }
            guard words.first == "import", words.count > 1 else { return nil }
            // `import struct Foundation.URL` names the module before the point.
            let name = words[words.count == 2 ? 1 : words.count - 1]
            return (index + 1, String(name.split(separator: ".")[0]))
        }
    }

    /// What may be imported where, as one rule for sources and for the package description.
    static func isAllowed(_ imported: String, in module: String) -> Bool {
        guard let own = floor(of: module) else { return false }
        guard let other = floor(of: imported) else { return system.contains(imported) }
        return other < own || other == own && imported != module && neighbours.contains(own)
    }
}

@Suite struct FloorTests {
    @Test func everyModuleStandsOnAFloor() {
        let found = Set(Repository.sources.map(\.module)).subtracting(["System"])
        let known = Set(Repository.floors.dropFirst().flatMap(\.modules))
        #expect(found.subtracting(known) == [], "modules without a floor")
        #expect(known.subtracting(found) == [], "modules without sources")
    }

    @Test func modulesImportOnlyWhatIsBelow() {
        var seen = 0
        for source in Repository.sources where source.module != "System" {
            for (line, name) in Repository.imports(in: source) {
                seen += 1
                #expect(
                    Repository.isAllowed(name, in: source.module),
                    "\(source.path):\(line): \(source.module) imports \(name)")
            }
        }
        #expect(seen > 300, "the imports were not found")
    }

    /// Neighbours of a floor must not know each other in turn, which the compiler refuses for
    /// modules; here it is what the package says that is looked at.
    @Test func thePackageAllowsNoMoreThanTheFloors() throws {
        let package = try String(
            contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        // `name("Engine", ["CEL", …])` in either layout, and the executable's list.
        let text = package.replacing(#/\s+/#, with: " ")
        var dependencies: [String: [String]] = [:]
        for match in text.matches(of: #/module\( ?"(\w+)"(?:, ?\[([^\]]*)\])? ?,? ?\)/#) {
            dependencies[String(match.1)] = Self.names(match.2 ?? "")
        }
        for match in text.matches(
            of: #/executableTarget\( ?name: "(\w+)", dependencies: \[([^\]]*)\]/#)
        {
            dependencies[String(match.1)] = Self.names(match.2)
        }
        let known = Set(Repository.floors.dropFirst().flatMap(\.modules))
        #expect(Set(dependencies.keys) == known)
        for (module, names) in dependencies {
            for name in names {
                #expect(
                    Repository.isAllowed(name, in: module), "\(module) depends on \(name)")
            }
        }
        #expect(dependencies["Storage"]?.contains("Server") == false)
        #expect(dependencies["Server"]?.contains("Storage") == false)
    }

    private static func names(_ list: Substring) -> [String] {
        list.matches(of: #/"(\w+)"/#).map { String($0.1) }
    }
}

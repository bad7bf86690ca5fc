import Foundation
import Policies

/// The files under `Policies/` at the root of the repository.
enum ShippedPolicies {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")

    static func file(_ name: String) throws -> PolicyLoader.File {
        let data = try Data(contentsOf: folder.appending(path: name))
        return PolicyLoader.File(path: name, bytes: Array(data))
    }

    /// Every YAML file, by path below the folder.
    static func all() throws -> [PolicyLoader.File] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".yaml") }.map(file)
    }
}

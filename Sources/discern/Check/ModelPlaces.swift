import Engine
import Ledger
import Policies
import Storage

/// Where models are looked for that policies name and that do not lie beside them.
struct ModelPlaces {
    /// A folder or a file.
    let path: String?
    /// The data folder whose ledger recorded models.
    let data: String?

    /// What `--in` names, `Policies` if that is there, then the ledger.
    ///
    /// - Parameter readsLedger: whether the command reads the data folder.
    init(_ arguments: Arguments, readsLedger: Bool) {
        path = arguments["in"] ?? (Files.isFolder("Policies") ? "Policies" : nil)
        data = readsLedger ? DataAccess.folder(arguments) : nil
    }

    /// Adds the models that the files name and do not hold.
    func complete(_ files: inout PolicyFiles) throws {
        var missing = files.missingModels
        guard !missing.isEmpty else { return }
        if let path {
            try take(&missing, &files, from: PolicyFiles.read([path]).get().files)
        }
        guard let data, !missing.isEmpty, LedgerFile.exists(in: data) else { return }
        try take(&missing, &files, from: Self.recorded(in: data))
    }

    private func take(
        _ missing: inout Set<String>, _ files: inout PolicyFiles, from found: [PolicyLoader.File]
    ) {
        for file in found {
            guard let held = file.heldModel, missing.remove(held) != nil else { continue }
            files.add(file)
        }
    }

    private static func recorded(in data: String) throws -> [PolicyLoader.File] {
        let ledger = try LedgerFile(folder: data)
        return try ledger.entries(of: .policies, through: .max).filter { !$0.payload.isEmpty }
            .flatMap { entry in
                try entry.record(PoliciesRecord.self).files.map {
                    PolicyLoader.File(
                        path: "\(data), entry \(entry.envelope.sequence): \($0.path)",
                        bytes: Array($0.source.utf8))
                }
            }
    }

    /// Where was looked, for the finding about a model that is nowhere.
    var help: String {
        var places = ["the paths given", "the folder of the policy and `models` in it"]
        if let path { places.append("`\(path)` (--in)") }
        if let data { places.append("what the ledger in `\(data)` recorded (--data)") }
        return "looked for in " + places.joined(separator: ", ")
            + "; name its folder with --in, or put its file beside the policy"
    }
}

extension PolicyFiles {
    /// `name@version` of each model that a policy names and no file holds.
    var missingModels: Set<String> {
        Set(files.compactMap(\.namedModel)).subtracting(files.compactMap(\.heldModel))
    }
}

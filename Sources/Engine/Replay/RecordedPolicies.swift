import Policies
import Time

/// Policies and models as the ledger has them: every file that was ever loaded.
enum RecordedPolicies {
    /// What recorded files hold, in the order of the files.
    ///
    /// A path may stand there more than once, with the versions that it had over time, so
    /// each file is read as if in a folder of its own.
    static func compile(_ files: [PoliciesRecord.File], zones: ZoneDatabase) throws
        -> [(file: PoliciesRecord.File, candidate: Candidate)]
    {
        let paths = files.indices.map { "\($0)/" + files[$0].path }
        let load = PolicyLoader(zones: zones).load(
            zip(paths, files).map { PolicyLoader.File(path: $0, bytes: Array($1.source.utf8)) })
        guard let set = load.set else {
            let faults = load.diagnostics.filter { $0.severity == .error }.map(\.message)
            throw CorruptEntry(
                detail: "recorded policies do not load: " + faults.joined(separator: "; "))
        }
        var candidates: [String: Candidate] = [:]
        for (file, candidate) in CandidateLoad(set).files { candidates[file.path] = candidate }
        return try zip(paths, files).map { path, file in
            guard let candidate = candidates[path] else {
                throw CorruptEntry(detail: "the recorded file `\(file.path)` holds no policy")
            }
            return (file, candidate)
        }
    }
}

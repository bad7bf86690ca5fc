import Glibc
import Policies
import Time

/// The review policy that a word on the command line stands for.
enum ReviewPolicyChoice {
    case found(ReviewPromptPolicy)
    case invalid(report: String)

    /// A preset, a path, or a name below a folder.
    static func find(_ word: String, in folder: String?, zones: ZoneDatabase) throws
        -> ReviewPolicyChoice
    {
        if let preset = Preset.all.first(where: { $0.name == word }) {
            let load = PolicyLoader(zones: zones).load([preset.file])
            guard let policy = load.set?.reviewPromptPolicies.first else {
                return .invalid(report: load.rendered())
            }
            return .found(policy)
        }
        let isPath = access(word, F_OK) == 0
        guard isPath || !word.contains("/") else {
            throw Files.Fault(description: "\(word): \(String(cString: strerror(errno)))")
        }
        let place = isPath ? word : folder ?? "Policies"
        guard isPath || access(place, F_OK) == 0 else {
            throw UsageError(
                "`\(word)` is no preset (\(Preset.names)) and no file, and there is no \(place) to "
                    + "look it up in")
        }
        let set: PolicySet
        switch try PolicyFiles.load([place], zones: zones) {
        case .invalid(let report): return .invalid(report: report)
        case .loaded(let loaded): set = loaded
        }
        let all = set.reviewPromptPolicies
        let found = isPath ? all : all.filter { $0.name == word || $0.reference == word }
        let known = all.map(\.reference).joined(separator: ", ")
        guard isPath else {
            guard let policy = found.max(by: { $0.version < $1.version }) else {
                throw UsageError(
                    "`\(word)` is no preset (\(Preset.names)), no file, and no review policy in "
                        + "\(place)" + (known.isEmpty ? "" : "; there are \(known)"))
            }
            return .found(policy)
        }
        guard let policy = found.first, found.count == 1 else {
            throw UsageError(
                found.isEmpty
                    ? "there is no review policy in \(word)"
                    : "\(word) has several review policies: name one with --in \(word): \(known)")
        }
        return .found(policy)
    }
}

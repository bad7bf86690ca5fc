import Engine
import Policies
import Time

/// The folder of policy files: read anew at every load.
struct PolicyFolder: Sendable {
    var path: String
    var zones: ZoneDatabase
    /// Whether everything in it acts at every load, as in development.
    var activates: Bool

    /// Reads and checks the folder, and says what was found on the way.
    func load() -> (load: CandidateLoad, report: String) {
        switch PolicyFiles.read([path]) {
        case .failure(let problem):
            let fault = "\(problem.path): error: \(problem.message) [policy.unreadable]"
            return (CandidateLoad(files: [], faults: [fault]), fault + "\n")
        case .success(let found):
            let load = PolicyLoader(zones: zones).load(found.files)
            let report = load.rendered(colour: false)
            guard let set = load.set else {
                let faults = load.diagnostics.filter { $0.severity == .error }.map(\.line)
                return (CandidateLoad(files: [], faults: faults), report)
            }
            return (CandidateLoad(set, activates: activates), report)
        }
    }
}

extension PolicyDiagnostic {
    /// `file:line:column: error: message [code]`.
    var line: String {
        "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message) [\(code)]"
    }
}

import Engine
import Policies
import Time

/// The folder of policy files: read anew at every load.
struct PolicyFolder: Sendable {
    var path: String
    var zones: ZoneDatabase
    /// Whether everything in it acts at every load, as in development.
    var activates: Bool

    /// What was read: what to hand to the engine, the policies with their tests where they are
    /// good, and what was found on the way.
    struct Found {
        var load: CandidateLoad
        var checked: PolicyLoad?
        var report: String
    }

    /// Reads and checks the folder.
    func load() -> Found {
        switch PolicyFiles.read([path]) {
        case .failure(let problem):
            let fault = "\(problem.path): error: \(problem.message) [policy.unreadable]"
            return Found(
                load: CandidateLoad(files: [], faults: [fault]), report: fault + "\n")
        case .success(let found):
            let load = PolicyLoader(zones: zones).load(found.files)
            let report = load.rendered(colour: false)
            guard let set = load.set else {
                let faults = load.diagnostics.filter { $0.severity == .error }.map(\.line)
                return Found(load: CandidateLoad(files: [], faults: faults), report: report)
            }
            return Found(
                load: CandidateLoad(set, activates: activates), checked: load, report: report)
        }
    }
}

extension PolicyDiagnostic {
    /// `file:line:column: error: message [code]`.
    var line: String {
        "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message) [\(code)]"
    }
}

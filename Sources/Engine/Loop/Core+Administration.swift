import JSON
import Ledger
import Policies
import Time

/// Who may call, what acts, by which numbers.
extension Core {
    func administer(_ command: AdministrationCommand, _ submission: Submission) throws
        -> AdministrationAnswer
    {
        switch command {
        case .registerApp(let id, let name): try registerApp(id, name, submission)
        case .issueKey(let record): try issueKey(record, submission)
        case .revokeKey(let id): try revokeKey(id, submission)
        case .configure(let configuration, let zones):
            try configure(configuration, zones, submission)
        case .loadPolicies(let load): return try loadPolicies(load, submission)
        case .activate(let command): return try activate(command, submission)
        case .deactivate(let policy, let isShadow, let reason):
            return try deactivate(policy, isShadow: isShadow, reason: reason, submission)
        case .rollBack(let policy, let reason):
            return try rollBack(policy, reason: reason, submission)
        case .acceptFork(let record): try append(record, keys: [], submission)
        }
        changeDirectory()
        return .done
    }

    private func registerApp(_ id: String, _ name: String, _ submission: Submission) throws {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isPlain, (1...64).contains(id.utf8.count) else {
            throw Refusal(
                .invalidValue, "an app's id is plain", field: "/app", value: .string(id),
                allowed: ["1 to 64 letters, digits, - and _"])
        }
        guard registry.apps[id] == nil else {
            throw Refusal(
                .alreadyExists, "an app of this id is registered", field: "/app",
                value: .string(id))
        }
        guard registry.apps.count < EngineLimits.apps else {
            throw Refusal(.invalidValue, "no more than \(EngineLimits.apps) apps", field: "/app")
        }
        let record = AppRecord(app: id, name: name)
        try append(record, keys: [], submission)
        registry.apply(record)
    }

    private func issueKey(_ record: KeyRecord, _ submission: Submission) throws {
        if let app = record.tenant?.app, registry.apps[app] == nil {
            throw Refusal(
                .notFound, "no such app is registered", field: "/app", value: .string(app),
                allowed: registry.apps.keys.sorted().prefix(20).map { .string($0) })
        }
        guard !registry.keyIDs.contains(record.keyID), registry.keys[record.hash] == nil else {
            throw Refusal(.alreadyExists, "this key was issued already")
        }
        guard registry.keyIDs.count < EngineLimits.keys else {
            throw Refusal(.invalidValue, "no more than \(EngineLimits.keys) keys")
        }
        try append(record, keys: [], submission)
        registry.apply(record)
    }

    private func revokeKey(_ id: String, _ submission: Submission) throws {
        guard registry.keys.values.contains(where: { $0.keyID == id }) else {
            throw Refusal(.notFound, "there is no such key", field: "/keyID", value: .string(id))
        }
        let record = KeyRevocationRecord(keyID: id)
        try append(record, keys: [], submission)
        registry.apply(record)
    }

    /// Recorded only if it says something new, so that a restart writes nothing.
    private func configure(
        _ configuration: Configuration, _ zones: String, _ submission: Submission
    ) throws {
        let digest = Registry.digest(configuration, zones: zones)
        guard !registry.isConfigured || registry.configurationDigest != digest else { return }
        let record = ConfigurationRecord(configuration: configuration, zones: zones)
        try append(record, keys: [], submission)
        registry.apply(record, at: now)
    }
}

/// A refusal that was recorded: the entry stays, unlike that of any other refused command.
struct RecordedRefusal: Error {
    let refusal: Refusal
}

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
        case .activate(let reference, let isShadow, let reason):
            return try activate(reference, isShadow: isShadow, reason: reason, submission)
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

    // MARK: Policies

    /// Adds candidates. The first load of all also lets them act; a load that activates (in
    /// development) does so each time.
    private func loadPolicies(_ load: CandidateLoad, _ submission: Submission) throws
        -> AdministrationAnswer
    {
        var faults = load.faults
        var added: [PoliciesRecord.File] = []
        var names: [String] = []
        for (file, candidate) in load.files {
            let reference = candidate.reference
            guard let incumbent = catalog.incumbent(of: candidate) else {
                added.append(file)
                names.append("\(reference.name)@\(reference.version)")
                continue
            }
            if incumbent.reference.digest != reference.digest {
                faults.append(
                    "\(file.path):\(file.versionLine):1: error: \(reference.name)@\(reference.version) was recorded "
                        + "with other content; content that changes needs another `version` "
                        + "[policy.versionChanged]")
            }
        }
        if !faults.isEmpty { return try refuseLoad(.policyInvalid, faults, submission) }
        let activates = load.activates || !registry.hasActivations
        let activations: [ActivationRecord]
        do {
            activations = activates ? try self.activations(of: load.files.map(\.candidate)) : []
        } catch {
            return try refuseLoad(
                error.code, ["error: \(error.detail) [policy.conflict]"], submission)
        }
        guard !added.isEmpty || !activations.isEmpty || registry.loadFaults != nil else {
            return .loaded(added: [], activated: [])
        }
        let record = PoliciesRecord(files: added, activations: activations)
        try append(record, keys: [], submission)
        registry.apply(record, at: now)
        for (_, candidate) in load.files { catalog.add(candidate) }
        policiesChanged()
        return .loaded(
            added: names,
            activated: activations.map { "\($0.policy.name)@\($0.policy.version)" })
    }

    /// The failure is recorded; what acts goes on acting.
    private func refuseLoad(
        _ code: Refusal.Code, _ faults: [String], _ submission: Submission
    ) throws -> AdministrationAnswer {
        let record = PoliciesRecord(files: [], activations: [], faults: faults)
        try append(record, keys: [], submission)
        registry.apply(record, at: now)
        changeDirectory()
        throw RecordedRefusal(
            refusal: Refusal(
                code, "the policies were not loaded; what acted before goes on acting",
                members: ["faults": .array(faults.map { .string($0) })]))
    }

    /// What of a load is to act that does not act yet. Of several versions of a policy the
    /// newest acts; two policies for one category are refused.
    private func activations(of candidates: [Candidate]) throws(Refusal) -> [ActivationRecord] {
        var newest: [String: Candidate] = [:]
        for candidate in candidates where candidate.actingKind != nil {
            let name = candidate.reference.name
            if let known = newest[name], known.reference.version > candidate.reference.version {
                continue
            }
            newest[name] = candidate
        }
        var taken: [String: String] = [:]
        var activations: [ActivationRecord] = []
        for candidate in newest.values.sorted(by: { $0.reference.name < $1.reference.name }) {
            guard let acting = candidate.actingKind else { continue }
            let slots =
                acting.kind == .reviewPrompt
                ? ["review prompts"] : acting.categories.map(\.rawValue)
            for slot in slots {
                if let other = taken.updateValue(candidate.reference.name, forKey: slot) {
                    throw Refusal(
                        .policyConflict,
                        "both `\(other)` and `\(candidate.reference.name)` would act for \(slot)")
                }
            }
            let current =
                (acting.kind == .reviewPrompt ? [nil] : acting.categories.map(Optional.some))
                .map { registry.acting[.init(tenant: nil, category: $0, isShadow: false)] }
            if current.allSatisfy({ $0 == candidate.reference }) { continue }
            activations.append(
                ActivationRecord(
                    policy: candidate.reference, policyKind: acting.kind,
                    categories: acting.categories, isShadow: false, reason: "loaded"))
        }
        return activations
    }

    private func activate(
        _ reference: String, isShadow: Bool, reason: String, _ submission: Submission
    ) throws -> AdministrationAnswer {
        guard let candidate = catalog.policy(named: reference), let acting = candidate.actingKind
        else {
            throw Refusal(
                .notFound, "there is no such policy", field: "/policy", value: .string(reference),
                allowed: catalog.all.compactMap {
                    $0.actingKind == nil
                        ? nil : .string("\($0.reference.name)@\($0.reference.version)")
                })
        }
        if isShadow, acting.kind == .reviewPrompt {
            throw Refusal(
                .invalidValue, "a policy of review prompts cannot run in shadow",
                field: "/shadow", value: true, allowed: [false])
        }
        let record = ActivationRecord(
            policy: candidate.reference, policyKind: acting.kind, categories: acting.categories,
            isShadow: isShadow, reason: reason)
        try append(record, keys: [], submission)
        registry.apply(record, tenant: submission.tenant)
        policiesChanged()
        return .activated(record)
    }

    /// A longer window sees further back than what states still remember.
    private func policiesChanged() {
        actingPolicies = [:]
        if catalog.horizon > horizon { subjects.removeAll() }
        horizon = catalog.horizon
        changeDirectory()
    }
}

/// A refusal that was recorded: the entry stays, unlike that of any other refused command.
struct RecordedRefusal: Error {
    let refusal: Refusal
}

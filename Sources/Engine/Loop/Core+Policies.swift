import JSON
import Ledger
import Policies
import Time

/// Loading policies: candidates, and what acts with the first load.
extension Core {
    /// Adds candidates. The first load of all also lets them act; a load that activates (in
    /// development) does so each time.
    func loadPolicies(_ load: CandidateLoad, _ submission: Submission) throws
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
        let activates = load.activates || !registry.acting.hasActed
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
        let stamp = nextStamp(submission)
        try append(record, keys: [], submission)
        registry.apply(record, stamp)
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
        let stamp = nextStamp(submission)
        try append(record, keys: [], submission)
        registry.apply(record, stamp)
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
}

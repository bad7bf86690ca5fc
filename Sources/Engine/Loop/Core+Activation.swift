import JSON
import Ledger
import Policies
import Time

/// What acts, by command: activation with its guards, deactivation, roll-back.
extension Core {
    func activate(_ command: ActivateCommand, _ submission: Submission) throws
        -> AdministrationAnswer
    {
        try checkReason(command.reason)
        guard let candidate = catalog.policy(named: command.reference),
            let acting = candidate.actingKind
        else {
            throw Refusal(
                .notFound, "there is no such policy", field: "/policy",
                value: .string(command.reference),
                allowed: catalog.all.compactMap {
                    $0.actingKind == nil ? nil : .string($0.reference.text)
                })
        }
        let record = ActivationRecord(
            policy: candidate.reference, policyKind: acting.kind, categories: acting.categories,
            isShadow: command.isShadow, reason: command.reason,
            check: try checked(command, candidate.reference, submission.tenant))
        let stamp = nextStamp(submission)
        try append(record, keys: [], submission)
        registry.apply(record, tenant: submission.tenant, stamp)
        policiesChanged()
        return .activated(record)
    }

    /// Asks the guards. What only runs in shadow changes nothing for anybody: it is not held up.
    private func checked(
        _ command: ActivateCommand, _ policy: VersionReference, _ tenant: Tenant?
    ) throws -> GuardCheck? {
        guard var check = command.check else { return nil }
        check.judged = registry.judged(by: policy, of: tenant)
        if command.isShadow { return check }
        let objections = check.objections(registry.configuration.guards)
        let standing = objections.filter { !check.allow.contains($0.guarding) }
        guard standing.isEmpty else {
            let names = standing.map(\.guarding.rawValue)
            throw Refusal(
                .policyGuarded,
                "\(policy.text) does not act: "
                    + standing.map { "\($0.guarding.rawValue): \($0.detail)" }
                    .joined(separator: "; ")
                    + ". To let it act all the same, allow it by name: "
                    + names.joined(separator: ", "),
                field: "/allow",
                allowed: names.map { .string($0) },
                members: [
                    "guards": .array(
                        standing.map {
                            [
                                "guard": .string($0.guarding.rawValue),
                                "detail": .string($0.detail),
                            ]
                        })
                ])
        }
        check.overridden = objections.map(\.guarding)
        return check
    }

    /// A reason of blanks is none.
    private func checkReason(_ reason: String) throws {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw Refusal(
                .missingField, "a change of what acts needs a reason, which is recorded",
                field: "/reason")
        }
    }

    func deactivate(
        _ policy: String, isShadow: Bool, reason: String, _ submission: Submission
    ) throws -> AdministrationAnswer {
        try checkReason(reason)
        let changes = registry.acting.deactivation(
            of: policy, tenant: submission.tenant, isShadow: isShadow)
        guard !changes.isEmpty else {
            throw doesNotAct(
                policy, isShadow ? "it does not run in shadow here" : "it does not act here",
                isShadow: isShadow, submission.tenant)
        }
        let record = DeactivationRecord(
            policy: policy, isShadow: isShadow, reason: reason, changes: changes)
        let stamp = nextStamp(submission)
        try append(record, keys: [], submission)
        registry.apply(record, tenant: submission.tenant, stamp)
        policiesChanged()
        return .deactivated(record)
    }

    /// No guard is asked: what acted before was let act before, and what is wrong now must not
    /// wait for tests.
    func rollBack(_ policy: String, reason: String, _ submission: Submission) throws
        -> AdministrationAnswer
    {
        try checkReason(reason)
        let changes = registry.acting.rollback(of: policy, tenant: submission.tenant)
        guard !changes.isEmpty else {
            throw doesNotAct(policy, "it does not act here", isShadow: false, submission.tenant)
        }
        // An app without an activation of its own follows the common one; the common one has
        // nothing to fall back on.
        guard submission.tenant != nil || changes.contains(where: { $0.to != nil }) else {
            throw Refusal(
                .notFound, "nothing acted before it; `deactivate` takes it away", field: "/policy",
                value: .string(policy))
        }
        let record = RollbackRecord(policy: policy, reason: reason, changes: changes)
        let stamp = nextStamp(submission)
        try append(record, keys: [], submission)
        registry.apply(record, tenant: submission.tenant, stamp)
        policiesChanged()
        return .rolledBack(record)
    }

    private func doesNotAct(
        _ policy: String, _ detail: String, isShadow: Bool, _ tenant: Tenant?
    ) -> Refusal {
        let acting = registry.acting.facts.filter { slot, _ in
            slot.tenant == tenant && slot.isShadow == isShadow
        }
        return Refusal(
            .notFound, detail, field: "/policy", value: .string(policy),
            allowed: Set(acting.values.map(\.policy.text)).sorted().map { .string($0) })
    }

    /// A longer window sees further back than what states still remember.
    func policiesChanged() {
        actingPolicies = [:]
        if catalog.horizon > horizon { subjects.removeAll() }
        horizon = catalog.horizon
        changeDirectory()
    }

    /// What the entry of the command will say of when and by whom.
    func nextStamp(_ submission: Submission) -> EntryStamp {
        EntryStamp(sequence: nextSequence, at: now, actor: submission.actor)
    }
}

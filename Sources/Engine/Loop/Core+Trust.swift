import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// The trust flow: load what a decision needs, decide, append, apply.
extension Core {
    func authorize(_ command: AuthorizeCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        let key = EntityKey.subject(command.subject, of: tenant)
        let state = try subject(command.subject, key: key, tenant: tenant)
        let record = AuthorizationRecord(
            subject: command.subject, category: command.category, status: command.status,
            receivedAt: clock(of: tenant), coolDown: registry.configuration.authorizationCoolDown)
        try append(record, keys: record.keys(of: tenant), submission)
        state.apply(record)
        let result = state.authorization(for: command.category, at: record.receivedAt)
        return .authorization(status: result.status, endsAt: result.endsAt)
    }

    func evaluate(_ command: EvaluateCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        let tenantState = registry.state(of: tenant, at: now)
        let acting = acting(for: tenant, category: command.category)
        var attributes = command.attributes
        if let acting, acting.reference.digest != command.policyDigest {
            // Another policy began to act between reading the request and judging it.
            guard let reread = command.reread else {
                throw Refusal(
                    .unavailable, "another policy began to act meanwhile; send it again",
                    isRetryable: true)
            }
            attributes = reread(acting)
        }
        let state = try subject(command.subject, key: command.subjectKey, tenant: tenant)
        let context = EvaluationContext(
            tenant: tenant, now: tenantState.now(at: now), evaluationID: nextIdentifier(submission),
            configuration: registry.configuration,
            configurationDigest: registry.configurationDigest, acting: acting,
            shadow: self.acting(for: tenant, category: command.category, isShadow: true),
            debt: (
                tenantState.debt.count, tenantState.debt.threshold(registry.configuration.debt),
                tenantState.debt.refusingSince
            ),
            evaluationsToday: tenantState.evaluationsToday, subject: state,
            earlier: try completed(command.requestID, key: command.requestKey, tenant: tenant))
        switch command.decide(in: context, attributes: attributes, activations) {
        case .refused(var refusal):
            if refusal.code == .reportDebt || refusal.code == .accessSuspended {
                refusal.members["evaluations"] = .array(try overdueIDs(of: tenant))
            }
            throw refusal
        case .replayed(let record):
            let evaluation = try evaluation(record.evaluationID, tenant: tenant, address: nil)
            return .evaluation(
                JudgedEvaluation(record), isReplay: true,
                consumption: evaluation.consumptionState(at: context.now))
        case .judged(let record):
            let sequence = nextSequence
            try append(record, keys: [command.requestKey, command.subjectKey], submission)
            state.apply(EvaluationEvent(record), request: command.requestKey, horizon: horizon)
            registry.apply(record, tenant: tenant, at: now, sequence: sequence)
            evaluations[sequence] = ReportableEvaluation(record, tenant: tenant)
            let consumption = record.reportDueAt.map { _ in ConsumptionState.due }
            return .evaluation(
                JudgedEvaluation(record), isReplay: false, consumption: consumption)
        }
    }

    func report(_ command: ReportCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        var state = try evaluation(command.evaluation, tenant: tenant)
        switch command.decide(on: state, at: clock(of: tenant)) {
        case .refused(let refusal): throw refusal
        case .replayed(let record): return .consumption(record, isReplay: true)
        case .recorded(let record):
            try append(record, keys: record.keys(of: tenant), submission)
            state.apply(record)
            evaluations[record.evaluationID.sequence] = state
            registry.apply(record, tenant: tenant, at: now)
            return .consumption(record, isReplay: false)
        }
    }

    func label(_ command: LabelCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        var state = try evaluation(command.evaluation, tenant: tenant)
        let key = EntityKey.label(command.labelID, of: tenant)
        let earlier = try records(LabelRecord.self, under: key, tenant: tenant)
            .first { $0.record.labelID == command.labelID }?.record
        switch command.decide(on: state, earlier: earlier, at: clock(of: tenant)) {
        case .refused(let refusal): throw refusal
        case .replayed(let record): return .label(record, status: .replayed)
        case .recorded(let record, let isSuperseding):
            let sequence = nextSequence
            try append(record, keys: record.keys(of: tenant), submission)
            state.apply(record, sequence: sequence)
            evaluations[record.evaluationID.sequence] = state
            return .label(record, status: isSuperseding ? .superseding : .recorded)
        }
    }

    /// All labels or none: each is tried first, and only if all would be taken are they.
    ///
    /// A label may retract one that stands before it in the same batch, so trying follows
    /// what the earlier ones would change.
    func labelAll(_ commands: [LabelCommand], _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        var states: [Int64: ReportableEvaluation] = [:]
        var known: [ExactText: LabelRecord] = [:]
        for (index, command) in commands.enumerated() {
            do {
                let loaded = try evaluation(command.evaluation, tenant: tenant)
                let sequence = loaded.evaluationID.sequence
                var state = states[sequence] ?? loaded
                let key = EntityKey.label(command.labelID, of: tenant)
                let earlier =
                    try known[ExactText(command.labelID)]
                    ?? records(LabelRecord.self, under: key, tenant: tenant)
                    .first { $0.record.labelID == command.labelID }?.record
                switch command.decide(on: state, earlier: earlier, at: clock(of: tenant)) {
                case .refused(let refusal): throw refusal
                case .replayed: break
                case .recorded(let record, _):
                    state.apply(record, sequence: .max)
                    known[ExactText(command.labelID)] = record
                }
                states[sequence] = state
            } catch let refusal as Refusal {
                return .refusedAt(index, refusal)
            }
        }
        var results: [(LabelRecord, status: Reply.LabelStatus)] = []
        for (index, command) in commands.enumerated() {
            // Entries of one command must not share a salt.
            var part = submission
            part.salt = Array(
                SHA256.hash(submission.salt + [UInt8(index & 255), UInt8(index >> 8 & 255)])
                    .withBytes { Array($0.prefix(16)) })
            if case .label(let record, let status) = try label(command, tenant, part) {
                results.append((record, status))
            }
        }
        return .labels(results)
    }

    func advanceClock(_ advance: Duration, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        guard tenant.environment == .sandbox else {
            throw Refusal(.sandboxOnly, "only the clock of a sandbox can be moved")
        }
        guard
            registry.state(of: tenant, at: now).clockAhead + advance
                <= EngineLimits.sandboxClockAhead
        else {
            throw Refusal(
                .invalidValue, "the sandbox clock would be too far ahead", field: "/advance",
                value: .string(advance.policyText),
                allowed: [.string("up to \(EngineLimits.sandboxClockAhead.policyText) in all")])
        }
        let record = SandboxClockRecord(advance: advance)
        try append(record, keys: [], submission)
        registry.apply(record, tenant: tenant, at: now)
        return .sandboxClock
    }
}

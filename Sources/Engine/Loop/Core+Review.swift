import JSON
import Ledger
import Policies
import ReviewPrompts
import Time

/// What is kept of the review flow for a person or a device.
enum ReviewEntity {
    case subject(ReviewSubjectState)
    case device(ReviewDeviceState)
}

/// The review flow: load what a decision needs, decide, append, keep the new states.
extension Core {
    func review(_ command: ReviewCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> ReviewAnswer
    {
        do {
            switch command {
            case .donate(let command): return try donate(command, tenant, submission)
            case .reportOutcome(let id, let outcome, let subject):
                return try reportOutcome(outcome, of: id, by: subject, tenant, submission)
            case .status(let command): return try status(command, tenant)
            case .reset(let subject): return try reset(subject, tenant, submission)
            case .merge(let install, let account):
                return try merge(install, into: account, tenant, submission)
            }
        } catch let error as ReviewPromptError {
            throw Refusal(error)
        }
    }

    private func donate(_ command: DonateCommand, _ tenant: Tenant, _ submission: Submission)
        throws -> ReviewAnswer
    {
        let now = clock(of: tenant)
        let key = EntityKey.donation(command.idempotencyKey, of: tenant)
        let earlier = try records(DonationRecord.self, under: key, tenant: tenant)
            .first { $0.record.idempotencyKey == command.idempotencyKey }?.record
        if let earlier {
            guard earlier.action == command.action else {
                throw Refusal(
                    .idempotencyKeyReused, "another donation was made under this key",
                    field: "/idempotencyKey", value: .string(command.idempotencyKey))
            }
            let state = try earlier.grant.map { grant in
                try present(grant, tenant: tenant).state(at: now)
            }
            return .donated(earlier, grantState: state, isReplay: true)
        }
        let policy = try actingReviewPolicy(of: tenant)
        let shadow = reviewPolicy(of: tenant, isShadow: true)
        let account = try account(of: command.donation.subject, tenant: tenant)
        let donation = command.donation.donation(
            subject: account.id, now: now,
            keeping: Self.attributes(readBy: [policy.policy] + (shadow.map { [$0.policy] } ?? [])))
        let device = try device(donation.device, tenant: tenant)
        let decision = try ReviewPrompts.decide(
            donation, device: device, subject: account.state,
            policy: policy.policy, zones: zones, environment: tenant.reviewEnvironment, now: now,
            grantID: nextIdentifier(submission).text)
        var states = ReviewStates()
        states.subjects[account.id] = decision.subject
        states.devices[donation.device] = decision.device
        let record = DonationRecord(
            idempotencyKey: command.idempotencyKey, action: command.action, donation: donation,
            decision: decision, receivedAt: now, policy: policy.reference,
            shadowPolicy: shadow.map {
                ReviewShadow(
                    $0.policy, $0.reference, donation, device: device, subject: account.state,
                    zones: zones, environment: tenant.reviewEnvironment, now: now)
            },
            configuration: registry.configurationDigest, states: states)
        try append(record, keys: [key] + Self.keys(of: states, tenant), submission)
        keep(states, tenant: tenant)
        registry.apply(DonationJudges(record), tenant: tenant, at: self.now)
        return .donated(record, grantState: record.grant?.state(at: now), isReplay: false)
    }

    private func reportOutcome(
        _ outcome: ReviewOutcome, of text: String, by reporter: Pseudonym?, _ tenant: Tenant,
        _ submission: Submission
    ) throws -> ReviewAnswer {
        let now = clock(of: tenant)
        let (id, grant) = try grant(named: text, tenant)
        let subject = try self.account(of: grant.subject, tenant: tenant)
        if let reporter, try self.account(of: reporter, tenant: tenant).id != subject.id {
            throw Refusal(
                .subjectMismatch, "the grant was given to another subject", field: "/subject")
        }
        let result = try ReviewPrompts.recordOutcome(
            outcome, of: try asReported(grant, id: id, tenant: tenant),
            device: try device(grant.device, tenant: tenant),
            subject: subject.state,
            policy: reviewPolicy(of: tenant, isShadow: false)?.policy, now: now)
        if result.isReplayed {
            return .outcome(result.grant, state: result.grant.state(at: now), isReplay: true)
        }
        var states = ReviewStates()
        states.subjects[subject.id] = result.subject
        states.devices[grant.device] = result.device
        let record: GrantOutcomeRecord =
            switch outcome {
            case .requested:
                GrantOutcomeRecord(
                    grantID: id, outcome: "requested", reason: nil, receivedAt: now, states: states)
            case .notRequested(let reason):
                GrantOutcomeRecord(
                    grantID: id, outcome: "notRequested", reason: reason, receivedAt: now,
                    states: states)
            }
        try append(
            record, keys: [.grant(id, of: tenant)] + Self.keys(of: states, tenant), submission)
        keep(states, tenant: tenant)
        return .outcome(result.grant, state: result.grant.state(at: now), isReplay: false)
    }

    /// The grant of that id as it was given. One of another app does not exist here; one of the
    /// other environment does, but not here.
    private func grant(named text: String, _ tenant: Tenant) throws -> (Identifier, ReviewGrant) {
        let none = Refusal(
            .notFound, "there is no such grant", field: "/grantID", value: .string(text))
        guard let id = Identifier(text), let entry = try store.entry(id.sequence),
            let owner = entry.tenant, owner.app == tenant.app,
            entry.envelope.kind == RecordKind.donation.rawValue,
            owner == tenant || !entry.payload.isEmpty,
            let grant = try entry.record(DonationRecord.self).grant, grant.id == id.text
        else { throw none }
        guard owner == tenant else {
            throw Refusal(
                .environmentMismatch,
                "this grant is of the environment \(owner.environment.rawValue), and the key of "
                    + tenant.environment.rawValue,
                field: "/grantID", value: .string(text))
        }
        return (id, grant)
    }

    private func status(_ command: ReviewStatusCommand, _ tenant: Tenant) throws -> ReviewAnswer {
        let now = clock(of: tenant)
        let policy = try actingReviewPolicy(of: tenant)
        let account = try account(of: command.subject, tenant: tenant)
        let donation = command.donation(
            subject: account.id, now: now, keeping: policy.policy.donationAttributes)
        return .status(
            try ReviewPrompts.status(
                donation, device: try device(donation.device, tenant: tenant),
                subject: account.state, policy: policy.policy, zones: zones,
                environment: tenant.reviewEnvironment, now: now))
    }

    private func reset(_ subject: Pseudonym, _ tenant: Tenant, _ submission: Submission) throws
        -> ReviewAnswer
    {
        var account = try account(of: subject, tenant: tenant)
        account.state = try ReviewPrompts.reset(account.state, now: clock(of: tenant))
        var states = ReviewStates()
        states.subjects[account.id] = account.state
        let record = ResetRecord(subject: subject, states: states)
        try append(record, keys: Self.keys(of: states, tenant), submission)
        keep(states, tenant: tenant)
        return .reset
    }

    private func merge(
        _ install: Pseudonym, into account: Pseudonym, _ tenant: Tenant, _ submission: Submission
    ) throws -> ReviewAnswer {
        let before = try self.subject(install.text, tenant: tenant)
        let into = try self.subject(account.text, tenant: tenant)
        if into.aliasOf != nil || before.aliasOf.map({ $0 != account.text }) ?? false {
            throw Refusal(
                .invalidValue, "it was merged into another account",
                field: into.aliasOf == nil ? "/install" : "/account")
        }
        let merged = try ReviewPrompts.merge(
            install: before, installID: install.text, into: into, accountID: account.text,
            policy: reviewPolicy(of: tenant, isShadow: false)?.policy, now: clock(of: tenant))
        if before.aliasOf == account.text { return .merged(isReplay: true) }
        var states = ReviewStates()
        states.subjects[install.text] = merged.install
        states.subjects[account.text] = merged.account
        for grant in merged.superseded {
            var state = try states.devices[grant.device] ?? device(grant.device, tenant: tenant)
            state.supersede(grant.id)
            states.devices[grant.device] = state
        }
        let record = MergeRecord(install: install, account: account, states: states)
        try append(record, keys: Self.keys(of: states, tenant), submission)
        keep(states, tenant: tenant)
        return .merged(isReplay: false)
    }

    // MARK: States

    private func actingReviewPolicy(of tenant: Tenant) throws -> (
        policy: ReviewPromptPolicy, reference: VersionReference
    ) {
        guard let acting = reviewPolicy(of: tenant, isShadow: false) else {
            throw Refusal(
                .contextInvalid, "no policy acts for review prompts", reason: "noPolicy")
        }
        return acting
    }

    private func reviewPolicy(of tenant: Tenant, isShadow: Bool) -> (
        policy: ReviewPromptPolicy, reference: VersionReference
    )? {
        guard
            let reference = registry.acting.reference(
                for: tenant, category: nil, isShadow: isShadow),
            case .reviewPrompt(let policy)? = catalog.policy(reference)
        else { return nil }
        return (policy, reference)
    }

    /// The attributes that the conditions of policies read; `nil` for all.
    private static func attributes(readBy policies: [ReviewPromptPolicy]) -> Set<String>? {
        var names = Set<String>()
        for policy in policies {
            guard let own = policy.donationAttributes else { return nil }
            names.formUnion(own)
        }
        return names
    }

    /// A grant as it stands now, in the ledger of whoever has it now.
    private func present(_ grant: ReviewGrant, tenant: Tenant) throws -> ReviewGrant {
        let account = try account(of: grant.subject, tenant: tenant)
        if let known = try account.state.ledger[grant.id]
            ?? device(grant.device, tenant: tenant).ledger[grant.id]
        {
            return known
        }
        guard let id = Identifier(grant.id) else { return grant }
        return try asReported(grant, id: id, tenant: tenant)
    }

    /// A grant that no ledger remembers, with what was reported of it: the entries do remember.
    private func asReported(_ grant: ReviewGrant, id: Identifier, tenant: Tenant) throws
        -> ReviewGrant
    {
        var grant = grant
        let reports = try records(
            GrantOutcomeRecord.self, under: .grant(id, of: tenant), tenant: tenant)
        for (report, _) in reports where report.grantID == id {
            grant.reportedAt = report.receivedAt
            grant.returnReason = report.reason
            if report.outcome == "requested" {
                grant.report = .requested
            } else if report.receivedAt <= grant.leaseEndsAt {
                grant.report = .returned
            }
        }
        return grant
    }

    private func account(of subject: Pseudonym, tenant: Tenant) throws -> (
        id: String, state: ReviewSubjectState
    ) { try account(of: subject.text, tenant: tenant) }

    /// The person, or the account that the person was merged into.
    func account(of subject: String, tenant: Tenant) throws -> (
        id: String, state: ReviewSubjectState
    ) {
        // An account that was merged in turn is an alias itself. Merging makes no circle, and
        // bounds how long the way is.
        var id = subject
        while true {
            let state = try self.subject(id, tenant: tenant)
            guard let account = state.aliasOf else { return (id, state) }
            id = account
        }
    }

    private func subject(_ id: String, tenant: Tenant) throws -> ReviewSubjectState {
        let key = EntityKey.reviewSubject(id, of: tenant)
        if case .subject(let state)? = reviews[key] { return state }
        let state =
            try latest(under: key, tenant: tenant) { $0.subjects[id] } ?? ReviewSubjectState()
        reviews[key] = .subject(state)
        return state
    }

    func device(_ id: String, tenant: Tenant) throws -> ReviewDeviceState {
        let key = EntityKey.device(id, of: tenant)
        if case .device(let state)? = reviews[key] { return state }
        let state =
            try latest(under: key, tenant: tenant) { $0.devices[id] } ?? ReviewDeviceState()
        reviews[key] = .device(state)
        return state
    }

    /// The state that the latest entry about something left behind.
    private func latest<S>(
        under key: EntityKey, tenant: Tenant, _ state: (ReviewStates) -> S?
    ) throws -> S? {
        for entry in try store.entries(under: key).reversed()
        where entry.isOf(tenant) && !entry.payload.isEmpty {
            let payload = try RecordReader(
                bytes: entry.payload, sequence: entry.envelope.sequence)
            let states = try ReviewStates(payload: payload.object("result").object("states"))
            if let found = state(states) { return found }
        }
        return nil
    }

    func keep(_ states: ReviewStates, tenant: Tenant) {
        for (id, state) in states.subjects {
            reviews[.reviewSubject(id, of: tenant)] = .subject(state)
        }
        for (id, state) in states.devices { reviews[.device(id, of: tenant)] = .device(state) }
    }

    private static func keys(of states: ReviewStates, _ tenant: Tenant) -> [EntityKey] {
        states.subjects.keys.sorted().map { .reviewSubject($0, of: tenant) }
            + states.devices.keys.sorted().map { .device($0, of: tenant) }
    }
}

extension ReviewStatusCommand {
    /// The donation, of the attributes only those that the policy reads.
    func donation(subject: String, now: Instant, keeping names: Set<String>?) -> ReviewDonation {
        let kept = attributes.members.filter { names?.contains($0.key) ?? true }
        return ReviewDonation(
            reason: reason, subject: subject, device: device.text, version: version,
            distribution: distribution, zone: zone, occurredAt: occurredAt ?? now,
            installedAt: installedAt, attributes: JSONObject(kept))
    }
}

extension Tenant {
    var reviewEnvironment: ReviewEnvironment {
        switch environment {
        case .production: .production
        case .sandbox: .sandbox
        }
    }
}

extension Refusal {
    init(_ error: ReviewPromptError) {
        switch error {
        case .unknownReason(let given, let allowed):
            self.init(
                .invalidValue, "the policy knows no such reason or event", field: "/reason",
                value: .string(given), allowed: allowed.map { .string($0) })
        case .clockSkew(let field, let given, let now):
            self = .clockSkew("/" + field, given, now: now)
        case .missingZone:
            self.init(
                .missingField, "the policy counts days in the subject's zone: name it once",
                field: "/timeZone")
        case .unknownZone(let name):
            self.init(
                .invalidValue, "there is no such time zone", field: "/timeZone",
                value: .string(name), allowed: ["a name such as Europe/London, UTC, or +05:30"])
        case .versionTooLong(let bytes):
            self.init(
                .invalidValue, "the version has \(bytes) bytes", field: "/appVersion",
                allowed: [.string("at most \(AppVersion.maxLength) bytes")])
        case .outcomeReasonTooLong(let bytes):
            self.init(
                .invalidValue, "the reason has \(bytes) bytes", field: "/reason",
                allowed: [.string("at most \(ReviewPromptLimits.outcomeReason) bytes")])
        case .aliased:
            self.init(
                .invalidValue, "the subject was merged into another account", field: "/subject")
        case .alreadyReported(let report):
            self.init(
                .alreadyReported, "the grant was reported as \(report.outcome) before",
                field: "/outcome", allowed: [.string(report.outcome)])
        case .tooManyInstalls:
            self.init(
                .invalidValue, "the account has taken in as many installs as it may",
                field: "/account",
                allowed: [.string("at most \(ReviewPromptLimits.absorbedInstalls) installs")])
        case .mergedIntoItself:
            self.init(
                .invalidValue, "a subject cannot be merged into itself", field: "/account")
        }
    }
}

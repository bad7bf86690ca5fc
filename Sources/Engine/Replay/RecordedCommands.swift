import ReviewPrompts

// The command in each record: what was asked, without what became of it.

extension AuthorizationRecord {
    var command: AuthorizeCommand {
        AuthorizeCommand(subject: subject, category: category, status: status)
    }
}

extension EvaluationRecord {
    /// The device result is in the record only where it was looked at, and the attributes are
    /// as the policy that acted had read them: no more than judging needs.
    func command(of tenant: Tenant) -> EvaluateCommand {
        EvaluateCommand(
            tenant: tenant, requestID: requestID, subject: subject, action: action,
            category: category, attributes: .success(attributes), policyDigest: policy.digest,
            insights: insights, device: device, force: force)
    }
}

extension ConsumptionRecord {
    var command: ReportCommand {
        ReportCommand(
            evaluation: .evaluationID(evaluationID.text), status: status,
            insightsUsed: insightsUsed)
    }
}

extension LabelRecord {
    /// Labels of one batch are entries of their own, and commands of their own when replayed.
    var command: LabelCommand {
        LabelCommand(
            labelID: labelID, evaluation: .evaluationID(evaluationID.text), label: label,
            category: category, source: source, occurredAt: occurredAt, retracts: retracts)
    }
}

extension DonationRecord {
    /// `nil` if the record's ids are no pseudonyms. The subject is the account that the
    /// install had been merged into by then, which donates for itself the same way.
    var command: DonateCommand? {
        guard let subject = Pseudonym(donation.subject), let device = Pseudonym(donation.device)
        else { return nil }
        return DonateCommand(
            idempotencyKey: idempotencyKey, action: action,
            donation: ReviewStatusCommand(
                reason: donation.reason, subject: subject, device: device,
                version: donation.version, distribution: donation.distribution,
                zone: donation.zone, occurredAt: donation.occurredAt,
                installedAt: donation.installedAt, attributes: donation.attributes))
    }
}

extension GrantOutcomeRecord {
    /// `nil` if the outcome has a name that is not known.
    var command: ReviewCommand? {
        switch outcome {
        case "requested": .reportOutcome(grantID: grantID.text, .requested)
        case "notRequested":
            .reportOutcome(grantID: grantID.text, .notRequested(reason: reason))
        default: nil
        }
    }
}

extension MergeRecord {
    var command: ReviewCommand { .merge(install: install, account: account) }
}

import Policies
import Time

/// Two subjects that turned out to be one.
public struct ReviewMerge: Sendable, Equatable {
    /// The install: an alias of the account from now on, and nothing else.
    public var install: ReviewSubjectState
    /// The account, with everything that was remembered of the install.
    public var account: ReviewSubjectState
    /// Grants that became silent by it: on their devices, too, they are open no more.
    public var superseded: [ReviewGrant] = []
}

extension ReviewPrompts {
    /// Merges an install into an account.
    ///
    /// Every counting grant stays, so no cap gets wider by it; counts add up; of two marks,
    /// versions and zones the later stays. Of two open grants the newer becomes silent. Merging again is a replay and
    /// changes nothing.
    ///
    /// - Parameters:
    ///   - accountID: the account's pseudonym.
    ///   - installID: the install's pseudonym.
    ///   - policy: the acting one, if there is one; what its limits look at is not forgotten.
    public static func merge(
        install: ReviewSubjectState, installID: String, into account: ReviewSubjectState,
        accountID: String, policy: ReviewPromptPolicy? = nil, now: Instant
    ) throws(ReviewPromptError) -> ReviewMerge {
        if installID == accountID { throw .mergedIntoItself }
        if let other = account.aliasOf { throw .aliased(to: other) }
        if let other = install.aliasOf {
            if other == accountID { return ReviewMerge(install: install, account: account) }
            throw .aliased(to: other)
        }
        // Who looks an install up follows its aliases; this bounds how many.
        let absorbed = account.absorbed + install.absorbed + 1
        guard absorbed <= ReviewPromptLimits.absorbedInstalls else { throw .tooManyInstalls }
        var (install, account) = (install, account)
        account.absorbed = absorbed
        install.settle(at: now)
        account.settle(at: now)
        account.ledger.merge(install.ledger, now: now)
        for (name, counter) in install.counters {
            account.counters[name, default: ReasonCounter()].add(counter)
        }
        account.hasCountedGrant = account.hasCountedGrant || install.hasCountedGrant
        for (name, mark) in install.events {
            ReviewSubjectState.remember(name, mark, in: &account.events, keeping: policy)
        }
        for (name, mark) in install.outcomes {
            ReviewSubjectState.remember(name, mark, in: &account.outcomes, keeping: policy)
        }
        let isInstallLater =
            (install.lastDonationAt ?? .min) > (account.lastDonationAt ?? .min)
        let (later, earlier) = isInstallLater ? (install, account) : (account, install)
        account.lastVersion = later.lastVersion ?? earlier.lastVersion
        account.zone = later.zone ?? earlier.zone
        account.lastDonationAt = later.lastDonationAt ?? earlier.lastDonationAt
        let superseded = keepOldestOpen(&account, now: now)
        var alias = ReviewSubjectState()
        alias.aliasOf = accountID
        return ReviewMerge(install: alias, account: account, superseded: superseded)
    }

    /// Gives the grants that became silent.
    private static func keepOldestOpen(_ account: inout ReviewSubjectState, now: Instant)
        -> [ReviewGrant]
    {
        let open = account.ledger.open(at: now)
        account.openGrantID = open.first?.id
        for var grant in open.dropFirst() {
            grant.isSuperseded = true
            account.ledger.update(grant.id) { $0.isSuperseded = true }
            if grant.isCounting(at: now) { account.becomesCounting(grant) }
        }
        return Array(open.dropFirst())
    }
}

import Ledger
import Policies
import ReviewPrompts
import Time
import TrustInsights

/// Erasing a person: payloads, salts and keys of every entry about them are taken away, and one
/// entry says which, and what of it counts on.
extension Core {
    func erase(_ command: EraseCommand, _ tenant: Tenant, _ submission: Submission) throws
        -> Reply.Content
    {
        let people = try everybody(behind: command.subject, tenant: tenant)
        let found = try entries(about: people, tenant: tenant)
        hasErased = true
        guard !found.entries.isEmpty else { return .erased(ErasureAnswer()) }
        var states = ReviewStates()
        for device in found.devices {
            var state = try self.device(device, tenant: tenant)
            state.erase(grants: found.grants)
            states.devices[device] = state
        }
        let answer = try record(found, states, command, tenant, submission)
        for person in people {
            subjects[.subject(person, of: tenant)] = nil
            reviews[.reviewSubject(person.text, of: tenant)] = nil
        }
        for entry in found.entries { evaluations[entry.sequence] = nil }
        keep(states, tenant: tenant)
        return .erased(answer)
    }

    /// Writes who is gone: one entry, or several where there is too much for one.
    private func record(
        _ found: Found, _ states: ReviewStates, _ command: EraseCommand, _ tenant: Tenant,
        _ submission: Submission
    ) throws -> ErasureAnswer {
        var answer = ErasureAnswer()
        let state = registry.state(of: tenant, at: now)
        let owed = state.debt.unreported.count
        for start in stride(from: 0, to: found.entries.count, by: ErasureRecord.mostEntries) {
            let end = min(start + ErasureRecord.mostEntries, found.entries.count)
            let isFirst = start == 0
            let record = ErasureRecord(
                reason: command.reason, entries: Array(found.entries[start..<end]),
                states: isFirst ? states : ReviewStates())
            var part = submission
            // Entries of one command must not share a salt.
            if !isFirst { part.salt = Self.salt(submission.salt, part: start) }
            answer.entries.append(nextSequence)
            try append(
                record, keys: record.states.devices.keys.sorted().map { .device($0, of: tenant) },
                part)
            // Only now: where nothing can be stored, nothing must be taken away either.
            for entry in record.entries {
                try store.erase(entry.sequence, removing: found.keys)
                answer.erased[entry.kind, default: 0] += 1
            }
            registry.apply(record, tenant: tenant, at: now)
        }
        answer.cancelledReports = owed - state.debt.unreported.count
        let clock = clock(of: tenant)
        let prompts = states.devices.values.flatMap(\.ledger.grants)
            .filter { found.grants.contains($0.id) && $0.isCounting(at: clock) }
        answer.devicePrompts = prompts.count
        answer.devicePromptsUntil = prompts.compactMap(\.countsErasedUntil).max()
        return answer
    }

    private static func salt(_ salt: [UInt8], part: Int) -> [UInt8] {
        let number = withUnsafeBytes(of: UInt64(part).bigEndian) { Array($0) }
        return SHA256.hash(salt + number).withBytes { Array($0.prefix(Submission.saltLength)) }
    }

    // MARK: Finding

    /// The person, the account that the person was merged into, and all that were merged into that.
    private func everybody(behind subject: Pseudonym, tenant: Tenant) throws -> [Pseudonym] {
        guard let account = Pseudonym(try account(of: subject.text, tenant: tenant).id) else {
            return [subject]
        }
        var people = [account]
        var next = 0
        while next < people.count {
            let person = people[next]
            next += 1
            let key = EntityKey.reviewSubject(person.text, of: tenant)
            for sequence in try store.sequences(under: key) {
                guard let entry = try store.entry(sequence), entry.isOf(tenant),
                    entry.envelope.kind == RecordKind.merge.rawValue, !entry.payload.isEmpty
                else { continue }
                let merge = try entry.record(MergeRecord.self)
                if merge.account == person, !people.contains(merge.install) {
                    people.append(merge.install)
                }
            }
        }
        return people
    }

    /// Entries about people, and what is to be found by them no more.
    private struct Found {
        var entries: [ErasedEntry] = []
        /// Keys that hold a pseudonym of theirs, or tie an entry of theirs to a device.
        var keys: Set<EntityKey> = []
        var devices: Set<String> = []
        var grants: Set<String> = []
    }

    private func entries(about people: [Pseudonym], tenant: Tenant) throws -> Found {
        var found = Found()
        for person in people {
            let keys: [EntityKey] = [
                .subject(person, of: tenant), .authorizations(of: person, tenant),
                .reports(about: person, of: tenant), .reviewSubject(person.text, of: tenant),
            ]
            found.keys.formUnion(keys)
        }
        // One by one: there may be many of them, and each is large.
        for sequence in try Set(found.keys.flatMap(store.sequences)).sorted() {
            guard let entry = try store.entry(sequence), entry.isOf(tenant),
                !entry.payload.isEmpty,
                let erased = try erased(entry, about: Set(people), &found)
            else { continue }
            found.entries.append(erased)
        }
        found.keys.formUnion(found.devices.map { .device($0, of: tenant) })
        return found
    }

    /// Keys are short hashes: an entry is taken only if it says itself that it is about the people.
    private func erased(
        _ entry: LedgerEntry, about people: Set<Pseudonym>, _ found: inout Found
    ) throws -> ErasedEntry? {
        guard let kind = RecordKind(rawValue: entry.envelope.kind) else { return nil }
        let sequence = entry.envelope.sequence
        func note(_ states: ReviewStates) -> Bool {
            guard people.contains(where: { states.subjects[$0.text] != nil }) else { return false }
            found.devices.formUnion(states.devices.keys)
            return true
        }
        switch kind {
        case .evaluation:
            let record = try entry.record(EvaluationRecord.self)
            return people.contains(record.subject) ? ErasedEntry(record, sequence: sequence) : nil
        case .consumption:
            let record = try entry.record(ConsumptionRecord.self)
            return people.contains(record.subject) ? ErasedEntry(record, sequence: sequence) : nil
        case .donation:
            let record = try entry.record(DonationRecord.self)
            guard note(record.states) else { return nil }
            if let grant = record.grant { found.grants.insert(grant.id) }
            return ErasedEntry(record, sequence: sequence)
        case .authorization:
            guard people.contains(try entry.record(AuthorizationRecord.self).subject) else {
                return nil
            }
        case .label:
            guard people.contains(try entry.record(LabelRecord.self).subject) else { return nil }
        case .grantOutcome:
            guard note(try entry.record(GrantOutcomeRecord.self).states) else { return nil }
        case .merge: guard note(try entry.record(MergeRecord.self).states) else { return nil }
        case .reset: guard note(try entry.record(ResetRecord.self).states) else { return nil }
        case .activation, .app, .configuration, .deactivation, .erasure, .key, .keyRevocation,
            .ledgerFork, .policies, .rollback, .sandboxClock:
            return nil
        }
        return ErasedEntry(sequence: sequence, kind: kind)
    }

    // MARK: Folding

    /// What was erased after the entries that the registry was kept with, to be folded in place of
    /// the payloads.
    func loadErased(after sequence: Int64) throws -> [Int64: ErasedEntry] {
        var erased: [Int64: ErasedEntry] = [:]
        try store.scanErasures(after: sequence) { entry in
            for each in try entry.record(ErasureRecord.self).entries where each.sequence > sequence
            {
                erased[each.sequence] = each
            }
        }
        return erased
    }
}

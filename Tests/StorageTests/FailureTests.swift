import Engine
import Ledger
import Policies
import Storage
import Testing
import Time

/// Every call to the store fails once in a story that is told again and again: nothing that was
/// acknowledged is lost, nothing that was refused is stored, and the engine goes on.
@Suite struct FailureTests {
    /// The story's ledger when nothing fails, and how many calls it takes.
    private static func undisturbed(_ kinds: Set<FailingStore.Kind>) throws -> (
        story: Story, entries: [LedgerEntry], calls: Int
    ) {
        let story = try Story.short(erasing: true)
        var wrapper: FailingStore?
        let stage = try Stage {
            let store = FailingStore($0)
            wrapper = store
            return store
        }
        wrapper?.begin(.init(kinds: kinds, failing: 0..<0))
        try story.tell(on: stage)
        return (story, try stage.entries(), wrapper?.counts.calls ?? 0)
    }

    /// Tells the story with some calls failing, each batch as often as it takes.
    private static func tell(
        _ story: Story, like expected: [LedgerEntry], _ plan: FailingStore.Plan
    ) throws -> String? {
        var wrapper: FailingStore?
        let stage = try Stage {
            let store = FailingStore($0)
            wrapper = store
            return store
        }
        wrapper?.begin(plan)
        for index in story.beats.indices {
            stage.clock.advance(story.beats[index].pause)
            let before = try stage.entries().count
            let place = "\(plan), beat `\(story.beats[index].name)`"
            for attempt in 1... {
                let replies = stage.perform(try story.submissions(index, on: stage))
                let refused = replies.filter { $0.refusal?.code == .serverError }
                if refused.isEmpty {
                    stage.remember(replies)
                    break
                }
                // What is refused says that it may come again; what is answered all the same
                // claims nothing new; nothing is stored.
                guard refused.allSatisfy({ $0.refusal?.isRetryable == true }) else {
                    return "\(place): a refusal does not say that it may come again"
                }
                if let claim = replies.first(where: \.claimsToBeNew) {
                    return "\(place): answered although nothing was stored: \(claim.content)"
                }
                guard try stage.entries().count == before else {
                    return "\(place): refused, and stored"
                }
                guard stage.engine.failure?.contains("Failure") == true else {
                    return
                        "\(place): the failure is not shown: \(String(describing: stage.engine.failure))"
                }
                if attempt > 12 { return "\(place): still refused after \(attempt) attempts" }
            }
            // What is acknowledged is there, and is what it would have been.
            let stored = try stage.entries()
            let wanted = Array(expected.prefix(stored.count))
            // Of what is erased later, payload and salt are not known any more.
            let known = zip(stored, wanted).map { stored, wanted in
                var known = stored
                if wanted.payload.isEmpty { (known.payload, known.salt) = ([], []) }
                return known
            }
            if let difference = ReplayTests.differences(known, wanted) {
                return "\(place): \(difference)"
            }
            if stored.count > before, let failure = stage.engine.failure {
                return "\(place): `\(failure)` is shown after a success"
            }
        }
        guard let counts = wrapper?.counts, counts.failures == plan.failing.count else {
            return "\(plan): not all failures came"
        }
        if let difference = ReplayTests.differences(expected, try stage.entries()) {
            return "\(plan): \(difference)"
        }
        // In memory and on disk is the same.
        let answers = ReplayTests.answers(stage, donated: "d1")
        try stage.restart()
        return ReplayTests.answers(stage, donated: "d1") == answers
            ? nil : "\(plan): other answers after a restart"
    }

    @Test func everyAppendAndEveryCommitFailsOnce() throws {
        let kinds: Set<FailingStore.Kind> = [.append, .commit]
        let (story, expected, calls) = try Self.undisturbed(kinds)
        #expect(calls > 25)
        for call in 1...calls {
            let fault = try Self.tell(
                story, like: expected, .init(kinds: kinds, failing: call..<call + 1))
            if let fault {
                Issue.record("\(fault)")
                return
            }
        }
    }

    @Test func everyCommitFailsThreeTimes() throws {
        let (story, expected, calls) = try Self.undisturbed([.commit])
        for call in 1...calls {
            let fault = try Self.tell(
                story, like: expected, .init(kinds: [.commit], failing: call..<call + 3))
            if let fault {
                Issue.record("\(fault)")
                return
            }
        }
    }

    /// Also when the state cannot be read again at first: nothing may be decided on what is left
    /// of it, and no hole may come into the ledger.
    @Test func everyCallFailsAndTheNextOnesToo() throws {
        let kinds = Set(FailingStore.Kind.allCases)
        let (story, expected, calls) = try Self.undisturbed(kinds)
        for call in stride(from: 1, through: calls, by: 2) {
            for length in [1, 2, 4] {
                let fault = try Self.tell(
                    story, like: expected, .init(kinds: kinds, failing: call..<call + length))
                if let fault {
                    Issue.record("\(fault)")
                    return
                }
            }
        }
    }

    @Test func theDirectoryShowsOnlyWhatIsStored() throws {
        var wrapper: FailingStore?
        let stage = try Stage {
            let store = FailingStore($0)
            wrapper = store
            return store
        }
        let story = try Story.short(erasing: true)
        _ = stage.perform(try story.submissions(0, on: stage))
        #expect(stage.engine.directory.registry.apps.count == 2)
        // The commit fails, and then reading the ledger again does as well.
        for length in [1, 2, 3] {
            wrapper?.begin(.init(kinds: [.commit, .read], failing: 1..<1 + length))
            let register = Submission(
                tenant: nil, actor: "operator",
                command: .administer(.registerApp(id: "late", name: "Late")))
            #expect(stage.perform([register]).first?.refusal?.code == .serverError)
            #expect(stage.engine.directory.registry.apps.keys.sorted() == ["other", "transcripts"])
            #expect(stage.engine.failure != nil)
            #expect(stage.engine.directory.acting(for: Stage.sandbox, category: .payment) != nil)
        }
        let again = Submission(
            tenant: nil, actor: "operator",
            command: .administer(.registerApp(id: "late", name: "Late")))
        wrapper?.begin(.init(kinds: [], failing: 0..<0))
        guard case .administered = stage.perform([again]).first?.content else {
            Issue.record("the engine did not go on")
            return
        }
        #expect(stage.engine.failure == nil)
        #expect(stage.engine.directory.registry.apps.count == 3)
    }
}

extension Reply {
    /// Whether it says that something was recorded by this very command.
    fileprivate var claimsToBeNew: Bool {
        switch content {
        case .authorization, .sandboxClock, .administered, .labels: true
        case .evaluation(_, let isReplay, _), .consumption(_, let isReplay): !isReplay
        case .label(_, let status): status != .replayed
        case .review(.donated(_, _, let isReplay)), .review(.outcome(_, _, let isReplay)),
            .review(.merged(let isReplay)):
            !isReplay
        case .review(.reset): true
        case .erased(let answer): !answer.entries.isEmpty
        case .review(.status), .shown, .debt, .refused, .refusedAt: false
        }
    }
}

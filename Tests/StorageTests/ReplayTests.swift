import Engine
import Ledger
import Policies
import ReviewPrompts
import Storage
import Testing
import Time
import TrustInsights

/// The recorded commands make the recorded entries again, and what is derived can be dropped.
@Suite struct ReplayTests {
    private static let tenants = Stage.tenants

    static func differences(_ left: [LedgerEntry], _ right: [LedgerEntry]) -> String? {
        for (left, right) in zip(left, right) {
            let place = "entry \(left.envelope.sequence) (\(left.envelope.kind))"
            if left.payload != right.payload {
                return place + ": payload\n" + String(decoding: left.payload, as: UTF8.self) + "\n"
                    + String(decoding: right.payload, as: UTF8.self)
            }
            if left.envelopeBytes != right.envelopeBytes { return place + ": envelope" }
            if left.salt != right.salt { return place + ": salt" }
            if left.nodes != right.nodes { return place + ": nodes" }
        }
        return left.count == right.count ? nil : "\(left.count) entries, and \(right.count)"
    }

    @Test func theStoryHasEverything() throws {
        let stage = try Stage()
        try Story.whole().tell(on: stage)
        let entries = try stage.entries()
        let kinds = RecordKind.allCases.filter { $0 != .erasure }
        #expect(Set(entries.map(\.envelope.kind)) == Set(kinds.map(\.rawValue)))
        #expect(Set(entries.compactMap(\.tenant)) == Set(Self.tenants))
        let evaluations = try entries.filter { $0.envelope.kind == "evaluation" }
            .map { try $0.record(EvaluationRecord.self) }
        #expect(evaluations.contains { $0.isRefused })
        #expect(evaluations.contains { $0.force != nil })
        #expect(evaluations.contains { $0.shadowPolicy != nil })
        #expect(evaluations.contains { $0.results.count == 4 })
        let donations = try entries.filter { $0.envelope.kind == "donation" }
            .map { try $0.record(DonationRecord.self) }
        #expect(donations.count { $0.shadowPolicy != nil } == 2)
        let activations = try entries.filter { $0.envelope.kind == "activation" }
            .map { try $0.record(ActivationRecord.self) }
        #expect(activations.contains { $0.check?.overridden.contains(.failingTests) == true })
        #expect(Set(evaluations.map(\.policy.version)) == [2, 3, 4])
        #expect(Set(evaluations.map { $0.acting.outcome }) == [.unknown, .medium, .high])
        let labels = try entries.filter { $0.envelope.kind == "label" }
            .map { try $0.record(LabelRecord.self) }
        #expect(labels.contains { $0.label == .retracted })
        let outcomes = try entries.filter { $0.envelope.kind == "grantOutcome" }
            .map { try $0.record(GrantOutcomeRecord.self).outcome }
        #expect(Set(outcomes) == ["requested", "notRequested"])
        #expect(entries.count > 60)
    }

    @Test func replayingTheEntriesMakesTheSameEntries() throws {
        let stage = try Stage()
        try Story.whole().tell(on: stage)
        let recorded = try stage.entries()
        let folder = TemporaryFolder()
        let store = try SQLiteStore(folder: DataFolder(path: folder.path))
        defer { store.close() }
        let clock = TestClock(.epoch)
        let engine = try Engine(store: store, zones: .utc, clock: { clock.now })
        defer { engine.stop() }
        var replay = Replay(zones: .utc)
        for entry in recorded {
            guard case .command(let submission, let wallClock) = try replay.step(entry) else {
                Issue.record("entry \(entry.envelope.sequence) gave no command")
                return
            }
            clock.advance(wallClock - clock.now)
            let reply = engine.perform(submission)
            let again = try store.reader.entry(entry.envelope.sequence)
            guard let again else {
                Issue.record(
                    "entry \(entry.envelope.sequence) (\(entry.envelope.kind)): \(reply.content)")
                return
            }
            if let difference = Self.differences([entry], [again]) {
                Issue.record("\(difference)")
                return
            }
        }
        var again: [LedgerEntry] = []
        try store.reader.scan(from: 1) {
            again.append($0)
            return true
        }
        #expect(Self.differences(recorded, again) == nil)
        #expect(try stage.store.tail().frontier == store.tail().frontier)
    }

    @Test func erasedEntriesAreSaidToBe() throws {
        let stage = try Stage()
        try Story.short().tell(on: stage)
        var entry = try #require(try stage.entries().first { $0.envelope.kind == "evaluation" })
        entry.payload = []
        entry.salt = []
        var replay = Replay(zones: .utc)
        guard case .erased = try replay.step(entry) else {
            Issue.record("an erased entry gave a command")
            return
        }
    }

    @Test func entriesThatAreNotAsWrittenAreNamed() throws {
        let stage = try Stage()
        try Story.short().tell(on: stage)
        let entries = try stage.entries()
        for (change, detail) in [
            ({ $0.salt = [1] }, "salt"), ({ $0.payload = Array("{".utf8) }, "JSON"),
            ({ $0.payload = Array("{}".utf8) }, "missing"), ({ $0.envelope.kind = "x" }, "kind"),
        ] as [((inout LedgerEntry) -> Void, String)] {
            for var entry in entries {
                change(&entry)
                var replay = Replay(zones: .utc)
                let error = #expect(throws: CorruptEntry.self) { try replay.step(entry) }
                #expect(
                    error?.detail.contains(detail) == true,
                    "\(entry.envelope.kind): \(error as Any)")
                #expect(error?.sequence == entry.envelope.sequence)
            }
        }
    }

    // MARK: The same story in other ways

    @Test(arguments: [false, true]) func caseE3_E33_batchesAndRestartsChangeNothing(
        erasing: Bool
    ) throws {
        let story = try Story.whole(erasing: erasing)
        let plain = try Stage()
        try story.tell(on: plain)
        let expected = try plain.entries()

        let oneByOne = try Stage()
        try story.tell(on: oneByOne, oneByOne: true)
        #expect(Self.differences(expected, try oneByOne.entries()) == nil)

        let restarted = try Stage(generation: 5)
        try story.tell(on: restarted) { _ in try restarted.restart() }
        #expect(Self.differences(expected, try restarted.entries()) == nil)
    }

    /// All that can be asked about what the story left behind.
    static func answers(_ stage: Stage, donated: String = "a3") -> [String] {
        var commands: [(Tenant, Command)] = []
        for tenant in tenants {
            commands.append((tenant, .listDebt(after: 0, limit: 100)))
            for id in ["r1", "r2", "r3", "p1", "p2", "p3", "p4", "i1", "refused", "off", "bad"] {
                commands.append((tenant, .show(.requestID(id))))
            }
        }
        for name in ["anna", "bert", "carl", "install"] {
            for device in ["phone", "tablet", "desk", "new"] {
                commands.append(
                    (
                        Stage.sandbox,
                        .review(
                            .status(
                                stage.donation(
                                    "exportedVideo", name, device: device, version: "9.9",
                                    minutes: 9)))
                    ))
            }
        }
        // Replays, which are found by key as well.
        commands += [
            (Stage.sandbox, stage.evaluate("r1")), (Stage.sandbox, stage.report("r1")),
            (Stage.sandbox, .label(stage.label("l1", of: "r1"))),
            (Stage.sandbox, stage.donate(donated, "finishedTranscript")),
        ]
        return commands.map { tenant, command in
            let reply = stage.engine.perform(
                Submission(tenant: tenant, actor: "asking", command: command))
            return "\(reply.debt) \(reply.now) \(reply.content)"
        }
    }

    @Test(arguments: [false, true]) func droppingTheIndexChangesNoAnswer(erasing: Bool) throws {
        // Written in many small generations, so that most of it is in files, merged and not.
        let stage = try Stage(generation: 8)
        try Story.whole(erasing: erasing).tell(on: stage)
        let before = Self.answers(stage)
        #expect(before.contains { $0.contains("alreadyReported") } == false)
        #expect(before.filter { $0.contains("notFound") }.count < before.count / 2)
        let entries = try stage.entries()
        var files = 0
        try stage.restart {
            files = try stage.folder.names("index").count
            try stage.folder.remove("index")
            try stage.folder.remove("state.snapshot")
        }
        #expect(files >= 1, "the index was not in files")
        #expect(Self.answers(stage) == before)
        #expect(Self.differences(entries, try stage.entries()) == nil)
        // Wholly in memory, and again in files.
        try stage.restart()
        #expect(Self.answers(stage) == before)
    }

    @Test func caseE31_aCutTailIsNoticedAgainstACheckpoint() throws {
        for cut in [2, Int64.max] {
            let stage = try Stage()
            try Story.short().tell(on: stage)
            let checkpoint = try stage.store.tail().frontier
            try stage.restart {
                try SQL.run(
                    """
                    DELETE FROM entries WHERE sequence > (SELECT max(sequence) FROM entries) - \(cut)
                    """, in: stage.folder)
            }
            let after = try stage.store.tail().frontier
            #expect(after.count == checkpoint.count - min(UInt64(cut), checkpoint.count))
            #expect(after.root != checkpoint.root)
            // As many others in their place have another root.
            while try stage.store.tail().frontier.count < checkpoint.count {
                let count = try stage.store.tail().frontier.count
                let reply = stage.perform([
                    Submission(
                        tenant: nil, actor: "o",
                        command: .administer(.registerApp(id: "app-\(count)", name: "")))
                ])
                guard reply.first?.refusal == nil else {
                    Issue.record("\(reply)")
                    return
                }
            }
            #expect(try stage.store.tail().frontier.count == checkpoint.count)
            #expect(try stage.store.tail().frontier.root != checkpoint.root)
        }
    }
}

import Engine
import Foundation
import JSON
import Ledger
import Policies
import ReviewPrompts
import Storage
import Testing
import Time
import TrustInsights

/// A person who asks to be forgotten is: entries say that there were some, and nothing else does.
@Suite struct ErasureTests {
    /// Anna and bert, with everything that can be recorded of a person, on the same phone.
    private static func stage(generation: Int = 8) throws -> Stage {
        let stage = try Stage(generation: generation)
        try Story.short().tell(on: stage)
        for name in ["needle", "other"] { Self.use(stage, name) }
        return stage
    }

    private static func use(_ stage: Stage, _ name: String, _ tenant: Tenant = Stage.sandbox) {
        perform(
            stage,
            [
                stage.authorize(name, .authorized, tenant),
                stage.evaluate("\(name)-1", name, tenant),
                stage.evaluate("\(name)-2", name, tenant), stage.report("\(name)-1"),
                .label(stage.label("\(name)-l", of: "\(name)-1")),
            ], tenant)
        guard tenant == Stage.sandbox else { return }
        perform(
            stage,
            [
                stage.donate("\(name)-d", "exportedVideo", name, device: name, minutes: 9),
                .review(.merge(install: stage.subject("\(name)-i"), account: stage.subject(name))),
                .review(.reset(subject: stage.subject("\(name)-i"))),
            ])
        perform(
            stage,
            [.review(.reportOutcome(grantID: stage.grants["\(name)-d"] ?? "", .requested))])
    }

    @discardableResult
    private static func perform(
        _ stage: Stage, _ commands: [Command], _ tenant: Tenant = Stage.sandbox
    ) -> [Reply] {
        stage.clock.advance(.seconds(1))
        let replies = stage.perform(
            commands.map { Submission(tenant: tenant, actor: "key-1", command: $0) })
        stage.remember(replies)
        return replies
    }

    private static func erase(
        _ stage: Stage, _ name: String, _ tenant: Tenant = Stage.sandbox, reason: String? = nil
    ) throws -> ErasureAnswer {
        let reply = perform(stage, [stage.erase(name, tenant, reason: reason)], tenant)
        guard case .erased(let answer)? = reply.first?.content else {
            Issue.record("\(reply)")
            throw SQL.Failure(message: "not erased")
        }
        return answer
    }

    // MARK: Nothing is left

    /// What must be in no file: the text of requests, salts, pseudonyms in all their forms, and the
    /// keys that are made of them.
    private static func traces(_ stage: Stage, _ names: [String]) throws -> [(String, Data)] {
        var traces: [(String, Data)] = []
        for name in names {
            traces.append(("the payload of \(name)", Data("\"\(name)-1\"".utf8)))
            for subject in [name, "\(name)-i"] {
                let pseudonym = stage.subject(subject)
                traces.append(("\(subject) as text", Data(pseudonym.text.utf8)))
                let bytes = try #require(Hex.decode(pseudonym.text))
                traces.append(("\(subject) as bytes", Data(bytes)))
                for key in EntityKey.all(about: pseudonym, of: Stage.sandbox) {
                    withUnsafeBytes(of: key.value.bigEndian) {
                        traces.append(("a key of \(subject) in a row", Data($0)))
                    }
                    withUnsafeBytes(of: key.value.littleEndian) {
                        traces.append(("a key of \(subject) in the index", Data($0)))
                    }
                }
            }
        }
        return traces
    }

    private static func found(_ traces: [(String, Data)], in folder: String) throws -> Set<String> {
        var found = Set<String>()
        let files = FileManager.default.enumerator(atPath: folder)
        for case let name as String in try #require(files) where !name.hasSuffix("-shm") {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                continue
            }
            for (what, bytes) in traces where data.range(of: bytes) != nil { found.insert(what) }
        }
        return found
    }

    @Test func nothingIsLeftInAnyFile() throws {
        let stage = try Self.stage()
        stage.engine.stop()
        let salts = try stage.entries().filter {
            String(decoding: $0.payload, as: UTF8.self).contains("needle-1")
        }.map { ("a salt", Data($0.salt)) }
        #expect(!salts.isEmpty)
        let traces = try Self.traces(stage, ["needle"]) + salts
        try stage.restart()
        let before = try Self.found(traces, in: stage.folder.path)
        #expect(before.contains("the payload of needle"))
        #expect(before.contains("needle as text"))
        #expect(before.contains("a key of needle in the index"))
        #expect(before.contains("a key of needle in a row"))
        let answer = try Self.erase(stage, "needle")
        #expect(answer.isLogCleared)
        #expect(try Self.found(traces, in: stage.folder.path) == [])
        try stage.restart()
        #expect(try Self.found(traces, in: stage.folder.path) == [])
        #expect(
            try Self.found(Self.traces(stage, ["other"]), in: stage.folder.path).count >= 4)
    }

    /// Rows move between pages as others shrink; none may leave a copy behind.
    @Test func nothingIsLeftOfManyErasedInAnyOrder() throws {
        let stage = try Stage(generation: 64)
        try Story.short().tell(on: stage)
        let names = (0..<120).map { "person\($0)x" }
        for name in names { Self.use(stage, name) }
        var random = SeededGenerator(seed: 7)
        let gone = Array(names.shuffled(using: &random).prefix(100))
        for name in gone { #expect(try Self.erase(stage, name).isLogCleared) }
        #expect(try Self.found(Self.traces(stage, gone), in: stage.folder.path) == [])
        let rest = names.filter { !gone.contains($0) }
        let found = try Self.found(Self.traces(stage, rest), in: stage.folder.path)
        #expect(rest.allSatisfy { found.contains("the payload of \($0)") })
    }

    @Test func whoReadsKeepsTheLogAndACrashThenIsMadeGood() throws {
        let stage = try Self.stage()
        let traces = try Self.traces(stage, ["needle"])
        let crashed = TemporaryFolder()
        var isRead = false
        try stage.store.reader.scan(from: 1) { _ in
            guard !isRead else { return false }
            isRead = true
            // Somebody is reading in the log.
            #expect(try !Self.erase(stage, "needle").isLogCleared)
            #expect(try !Self.found(traces, in: stage.folder.path).isEmpty)
            try FileManager.default.copyItem(atPath: stage.folder.path, toPath: crashed.path)
            return false
        }
        #expect(isRead)
        // Asked again, when nobody reads any more.
        #expect(try Self.erase(stage, "needle").erased == [:])
        #expect(try Self.erase(stage, "needle").isLogCleared)
        #expect(try Self.found(traces, in: stage.folder.path) == [])
        // The process ended between the two.
        let after = try Stage(folder: crashed, generation: 8)
        #expect(try Self.found(traces, in: crashed.path) == [])
        #expect(ReplayTests.differences(try stage.entries(), try after.entries()) == nil)
        #expect(try Self.erase(after, "other").isLogCleared)
        try after.restart()
        #expect(ReplayTests.answers(after, donated: "d2").count > 10)
    }

    @Test func aFailedCommitErasesNothing() throws {
        let stage = try Stage(generation: 8) { FailingStore($0) }
        try Story.short().tell(on: stage)
        Self.use(stage, "needle")
        let entries = try stage.entries()
        let store = try #require(stage.wrapped as? FailingStore)
        store.begin(.init(kinds: [.commit], failing: 1..<2))
        let refused = Self.perform(stage, [stage.erase("needle")])
        #expect(refused.first?.refusal?.code == .serverError)
        #expect(ReplayTests.differences(entries, try stage.entries()) == nil)
        let shown = Self.perform(stage, [.show(.requestID("needle-1"))])
        #expect(shown.first?.refusal == nil)
        #expect(try Self.erase(stage, "needle").erased[.evaluation] == 2)
    }

    // MARK: What is said afterwards

    @Test func theAnswerCountsAndTheEntryNamesNobody() throws {
        let stage = try Self.stage()
        let before = try stage.entries()
        let root = try stage.store.tail().frontier.root
        let answer = try Self.erase(stage, "needle", reason: "asked on Monday")
        #expect(
            answer.erased == [
                .authorization: 1, .evaluation: 2, .consumption: 1, .label: 1, .donation: 1,
                .merge: 1, .reset: 1, .grantOutcome: 1,
            ])
        #expect(answer.cancelledReports == 1)
        #expect(answer.devicePrompts == 1)
        #expect(answer.entries == [Int64(before.count) + 1])
        let after = try stage.entries()
        let record = try #require(after.last).record(ErasureRecord.self)
        #expect(record.reason == "asked on Monday")
        #expect(record.entries.count == 9)
        let again = try ErasureRecord(
            payload: RecordReader(bytes: try #require(after.last).payload, sequence: 0))
        #expect(again == record)
        // Of the others nothing changed, and of these neither envelopes nor tree.
        let gone = Set(record.entries.map(\.sequence))
        for (old, new) in zip(before, after) {
            #expect(old.envelopeBytes == new.envelopeBytes && old.nodes == new.nodes)
            if gone.contains(old.envelope.sequence) {
                #expect(new.payload.isEmpty && new.salt.isEmpty)
            } else {
                #expect(old.payload == new.payload && old.salt == new.salt)
            }
        }
        let file = try LedgerFile(folder: stage.folder.path)
        #expect(try file.root(of: UInt64(before.count)) == root)
        for sequence in gone {
            #expect(try file.inclusion(of: UInt64(sequence), size: UInt64(after.count)).holds)
        }
        let stretch = try file.verify(1...UInt64(after.count))
        #expect(stretch.fault == nil)
        #expect(stretch.erased == 9)
        // Nothing more to do.
        let nothing = try Self.erase(stage, "needle")
        #expect(nothing.erased == [:] && nothing.entries == [] && nothing.isLogCleared)
        #expect(try Self.erase(stage, "never seen").entries == [])
        #expect(try stage.entries().count == after.count)
    }

    @Test func laterCallsAreToldThatItWasErased() throws {
        let stage = try Self.stage()
        let evaluation = try #require(stage.evaluations["needle-1"]).evaluationID.text
        let grant = try #require(stage.grants["needle-d"])
        _ = try Self.erase(stage, "needle")
        func check(_ when: String) {
            let commands: [Command] = [
                .show(.requestID("needle-1")), .show(.evaluationID(evaluation)),
                stage.evaluate("needle-1", "needle"), stage.evaluate("needle-1", "other"),
                stage.report("needle-1"), stage.report("needle-2"),
                .reportConsumption(
                    ReportCommand(
                        evaluation: .evaluationID(evaluation), status: .usedIncreasedFriction)),
                .label(stage.label("needle-l", of: "needle-1")),
                .label(stage.label("new", of: "needle-2")),
                .label(stage.label("needle-l", of: "other-1")),
                stage.donate(
                    "needle-d", "exportedVideo", "needle", device: "needle", minutes: 9),
                .review(.reportOutcome(grantID: grant, .requested)),
            ]
            for (place, reply) in Self.perform(stage, commands).enumerated() {
                #expect(reply.refusal?.code == .erased, "\(when), \(place): \(reply.content)")
            }
        }
        check("live")
        let size = try stage.entries().count
        try stage.restart {
            try stage.folder.remove("state.snapshot")
            try stage.folder.remove("index")
        }
        check("restarted")
        #expect(try stage.entries().count == size)
        let atomic = Self.perform(
            stage,
            [.labelAll([stage.label("x", of: "other-1"), stage.label("y", of: "needle-1")])])
        guard case .refusedAt(1, let refusal)? = atomic.first?.content else {
            Issue.record("\(atomic)")
            return
        }
        #expect(refusal.code == .erased)
    }

    @Test func thePersonIsAsNewAfterwards() throws {
        let stage = try Self.stage()
        _ = try Self.erase(stage, "needle")
        let first = Self.perform(stage, [stage.evaluate("n1", "needle")]).first
        #expect(first?.evaluation?.record.authorization == .notDetermined)
        let next = Self.perform(
            stage,
            [
                stage.authorize("needle", .authorized, Stage.sandbox),
                stage.evaluate("n2", "needle"), stage.evaluate("n3", "stranger"),
            ])
        // The windows hold what came since, and nothing of before.
        let fresh = try Stage()
        try Story.short().tell(on: fresh)
        fresh.clock.advance(stage.clock.now - fresh.clock.now - .seconds(1))
        _ = Self.perform(fresh, [fresh.evaluate("n1", "needle")])
        let expected = Self.perform(
            fresh,
            [
                fresh.authorize("needle", .authorized, Stage.sandbox),
                fresh.evaluate("n2", "needle"),
            ])
        #expect(next[1].evaluation?.record.velocity == expected[1].evaluation?.record.velocity)
        // An install that was merged is one of its own again.
        let status = Self.perform(
            stage,
            [
                .review(
                    .status(
                        stage.donation(
                            "exportedVideo", "needle-i", device: "elsewhere", version: "9.0")))
            ])
        guard case .review(.status(let found))? = status.first?.content else {
            Issue.record("\(status)")
            return
        }
        #expect(found.prompts == 0)
        #expect(found.counts.allSatisfy { $0.count == 0 })
    }

    @Test func theDeviceRemembersForAYear() throws {
        let stage = try Self.stage()
        let answer = try Self.erase(stage, "needle")
        let until = try #require(answer.devicePromptsUntil)
        func asks(_ name: String, _ key: String) throws -> Bool {
            let reply = Self.perform(
                stage,
                [
                    stage.donate(
                        key, "exportedVideo", name, device: "needle", version: "1.0", minutes: 9)
                ])
            guard case .review(.donated(let record, _, _))? = reply.first?.content else {
                Issue.record("\(reply)")
                return false
            }
            return record.grant != nil
        }
        #expect(try !asks("needle", "k1"))
        #expect(try !asks("third", "k2"))
        try stage.restart { try stage.folder.remove("state.snapshot") }
        #expect(try !asks("fourth", "k3"))
        let sandboxNow = Self.perform(stage, [.listDebt(after: 0, limit: 1)])[0].now
        _ = Self.perform(stage, [.advanceSandboxClock(until - sandboxNow + .days(1))])
        #expect(try asks("fifth", "k4"))
    }

    @Test func appsAndEnvironmentsAreApart() throws {
        let stage = try Self.stage()
        Self.use(stage, "needle", Stage.production)
        let entries = try stage.entries().filter { $0.tenant == Stage.production }
        #expect(!entries.isEmpty)
        #expect(try Self.erase(stage, "needle", Stage.other).erased == [:])
        #expect(try Self.erase(stage, "needle").erased[.evaluation] == 2)
        let after = try stage.entries().filter { $0.tenant == Stage.production }
        #expect(after.map(\.payload) == entries.map(\.payload))
        #expect(
            Self.perform(stage, [.show(.requestID("needle-1"))], Stage.production)[0].refusal == nil
        )
    }

    /// Keys are 64 bits of a hash: somebody else's entry may stand under them.
    @Test func anEntryUnderTheSameKeyIsNotTaken() throws {
        let stage = try Self.stage()
        try stage.restart {
            try stage.folder.remove("index")
            try SQL.run(
                """
                UPDATE entries SET keys = CAST(keys || (SELECT keys FROM entries AS mine
                    WHERE mine.payload LIKE '%"requestID":"needle-1"%') AS BLOB)
                WHERE payload LIKE '%"requestID":"other-1"%'
                """, in: stage.folder)
        }
        #expect(try Self.erase(stage, "needle").erased[.evaluation] == 2)
        #expect(Self.perform(stage, [.show(.requestID("other-1"))])[0].refusal == nil)
    }

    @Test func moreThanOneEntryCanNameIsNamedBySeveral() throws {
        let stage = try Stage()
        try Story.short().tell(on: stage)
        for part in 0..<21 {
            _ = Self.perform(
                stage,
                (0..<500).map { _ in
                    stage.authorize("many", part % 2 == 0 ? .denied : .authorized, Stage.sandbox)
                })
        }
        let answer = try Self.erase(stage, "many")
        #expect(answer.erased == [.authorization: 10_500])
        #expect(answer.entries.count == 2)
        let entries = try stage.entries()
        let records = try answer.entries.map {
            try entries[Int($0) - 1].record(ErasureRecord.self).entries.count
        }
        #expect(records == [10_000, 500])
        #expect(Set(entries.map(\.salt)).count > 1)
        try stage.restart { try stage.folder.remove("state.snapshot") }
        #expect(try Self.erase(stage, "many").erased == [:])
    }

    @Test func aReplayLeavesErasedEntriesOut() throws {
        let stage = try Self.stage()
        _ = try Self.erase(stage, "needle")
        var replay = Replay(zones: .utc)
        var left = 0
        for entry in try stage.entries() {
            if case .erased = try replay.step(entry) { left += 1 }
        }
        #expect(left == 10)
    }
}

import Engine
import JSON
import Ledger
import Policies
import Testing
import Time
import TrustInsights

/// Every kind of record is written as canonical JSON and read back as the same value.
@Suite struct RecordTests {
    /// Writes, checks that it is canonical, reads.
    private func again<R: Record>(_ record: R) throws -> R {
        var writer = JSONWriter()
        record.write(to: &writer)
        let bytes = writer.bytes
        let value = try JSONReader.parse(bytes)
        #expect(value.canonicalBytes == bytes, "\(String(decoding: bytes, as: UTF8.self))")
        return try R(payload: RecordReader(bytes: bytes, sequence: 1))
    }

    private func read<R: Record>(_ type: R.Type, _ text: String) throws -> R {
        try R(payload: RecordReader(bytes: Array(text.utf8), sequence: 7))
    }

    private static let id = "01a22c53-9588-7a0c-8002-000000000010"
    private static let person = "0123456789abcdef0123456789abcdef"
    private static let time = "2026-11-30T12:00:00.000Z"

    @Test(arguments: 0..<50) func trustRecords(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var authorization = try read(
            AuthorizationRecord.self,
            """
            {"command":{"category":"payment","status":"denied","subject":"\(Self.person)"},
            "result":{"coolDown":"PT0S","receivedAt":"\(Self.time)"}}
            """)
        authorization.subject = random.pseudonym()
        authorization.category = random.pick(Policies.Category.allCases)
        authorization.status = random.pick(AuthorizationStatus.allCases)
        authorization.receivedAt = random.instant()
        authorization.coolDown = random.duration()
        #expect(try again(authorization) == authorization, "seed \(seed)")

        var report = try read(
            ConsumptionRecord.self,
            """
            {"command":{"evaluationID":"\(Self.id)","status":"notUsedError",
            "subject":"\(Self.person)"},
            "result":{"dueAt":"\(Self.time)","reportedAt":"\(Self.time)"}}
            """)
        report.evaluationID = random.identifier()
        report.status = random.pick(ConsumptionStatus.allCases)
        report.insightsUsed = random.maybe { $0.some(of: 0...3) { $0.text() } }
        report.reportedAt = random.instant()
        report.dueAt = random.instant()
        report.flags = ConsumptionFlag.allCases.filter { _ in random.flip() }
        #expect(try again(report) == report, "seed \(seed)")

        var label = try read(
            LabelRecord.self,
            """
            {"command":{"evaluationID":"\(Self.id)","label":"retracted","labelID":"l",
            "occurredAt":"\(Self.time)","source":"partner","subject":"\(Self.person)"},"result":{"receivedAt":"\(Self.time)"}}
            """)
        label.evaluationID = random.identifier()
        label.labelID = random.text()
        label.label = random.pick(LabelValue.allCases)
        label.category = random.maybe { $0.pick(LabelCategory.allCases) }
        label.source = random.pick(LabelSource.allCases)
        label.occurredAt = random.instant()
        label.receivedAt = random.instant()
        label.retracts = random.maybe { $0.text() }
        #expect(try again(label) == label, "seed \(seed)")

        var clock = try read(SandboxClockRecord.self, #"{"command":{"advance":"PT1H"}}"#)
        clock.advance = random.duration()
        #expect(try again(clock) == clock, "seed \(seed)")
    }

    @Test(arguments: 0..<50) func administrationRecords(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var app = try read(AppRecord.self, #"{"command":{"app":"a","name":"A"}}"#)
        app.app = random.text()
        app.name = random.text()
        #expect(try again(app) == app)

        let key = KeyRecord.known(
            secret: random.text(), keyID: random.text(),
            tenant: random.maybe {
                Tenant(app: $0.text(), environment: $0.pick(DataEnvironment.allCases))
            }, scopes: Scope.allCases.shuffled(using: &random).filter { _ in random.flip() })
        #expect(try again(key) == key, "seed \(seed)")

        var revocation = try read(KeyRevocationRecord.self, #"{"command":{"keyID":"k"}}"#)
        revocation.keyID = random.text()
        #expect(try again(revocation) == revocation)

        let tree = LedgerForkRecord.Tree(size: 7, root: MerkleTree.leaf([7]))
        let fork = LedgerForkRecord(
            reason: random.text(), expected: random.maybe { _ in tree }, found: tree)
        #expect(try again(fork) == fork)

        var configuration = try read(
            ConfigurationRecord.self, #"{"command":{"configuration":{},"zones":"z"}}"#)
        configuration.zones = random.text()
        configuration.configuration = ConfigurationTests.random(&random)
        #expect(try again(configuration) == configuration, "seed \(seed)")

        var activation = try activation(&random)
        #expect(try again(activation) == activation, "seed \(seed)")
        activation.check = GuardCheck(
            allow: PolicyGuard.allCases.filter { _ in random.flip() },
            tests: random.maybe { random in
                TestEvidence(
                    passed: Int64.random(in: 0...9, using: &random), failed: 1,
                    firstFailure: random.maybe { $0.text() }, digest: random.text(),
                    rules: .init(1, of: 2), branches: .init(3, of: 4))
            })
        activation.check?.judged = 7
        activation.check?.overridden = PolicyGuard.allCases.filter { _ in random.flip() }
        #expect(try again(activation) == activation, "seed \(seed)")

        var deactivation = try read(
            DeactivationRecord.self,
            #"{"command":{"policy":"p","reason":""},"result":{"changes":[]}}"#)
        deactivation.policy = random.text()
        deactivation.isShadow = random.flip()
        deactivation.changes = try changes(&random)
        #expect(try again(deactivation) == deactivation, "seed \(seed)")

        var rollback = try read(
            RollbackRecord.self,
            #"{"command":{"policy":"p","reason":""},"result":{"changes":[]}}"#)
        rollback.reason = random.text()
        rollback.changes = try changes(&random)
        #expect(try again(rollback) == rollback, "seed \(seed)")

        var policies = try read(PoliciesRecord.self, #"{"command":{},"result":{}}"#)
        policies.files = random.some(of: 0...3) { .init(path: $0.text(), source: $0.text()) }
        policies.activations = try (0..<Int.random(in: 0...2, using: &random)).map { _ in
            try self.activation(&random)
        }
        policies.faults = random.some(of: 0...2) { $0.text() }
        #expect(try again(policies) == policies, "seed \(seed)")
    }

    private func changes(_ random: inout SeededGenerator) throws -> [ActingChange] {
        var change = try read(
            RollbackRecord.self,
            """
            {"command":{"policy":"p","reason":""},
            "result":{"changes":[{"from":{"digest":"d","name":"n","version":1}}]}}
            """
        ).changes[0]
        return random.some(of: 0...3) { random in
            change.category = random.maybe { $0.pick(Policies.Category.allCases) }
            change.from = random.reference()
            change.to = random.maybe { $0.reference() }
            return change
        }
    }

    /// Entries from before there were guards.
    @Test func anActivationWithoutGuardsReadsAndWritesTheSame() throws {
        let text =
            #"{"command":{"kind":"trust","policy":{"digest":"d","name":"n","version":1},"reason":"r"}}"#
        let record = try read(ActivationRecord.self, text)
        #expect(record.check == nil)
        var writer = JSONWriter()
        record.write(to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    private func activation(_ random: inout SeededGenerator) throws -> ActivationRecord {
        var activation = try read(
            ActivationRecord.self,
            """
            {"command":{"kind":"trust","policy":{"digest":"d","name":"n","version":1},"reason":""}}
            """)
        activation.policy = random.reference()
        activation.policyKind = random.flip() ? .trust : .reviewPrompt
        activation.categories = Policies.Category.allCases.filter { _ in random.flip() }
        activation.isShadow = random.flip()
        activation.reason = random.text()
        return activation
    }

    @Test(arguments: 0..<200) func evaluationRecords(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let record = try evaluation(&random)
        let read = try again(record)
        #expect(read == record, "seed \(seed)")
        // Equal is not enough for zeros: the sign and the type stay as well.
        #expect("\(read)" == "\(record)", "seed \(seed)")
    }

    private func evaluation(_ random: inout SeededGenerator) throws -> EvaluationRecord {
        let decision = #"{"friction":"unchanged","reasons":[]}"#
        let policy = #"{"digest":"d","name":"n","version":1}"#
        var record = try read(
            EvaluationRecord.self,
            """
            {"command":{"action":"\(Self.person)","attributes":{},"category":"payment",
            "requestID":"r","subject":"\(Self.person)"},
            "result":{"acting":{"modelVersion":"1","outcome":"high"},"authorization":"authorized",
            "completedAt":"\(Self.time)","configuration":"c","decision":\(decision),
            "evaluationID":"\(Self.id)","labelDeadline":"\(Self.time)","newestModelVersion":"2",
            "policy":\(policy),"receivedAt":"\(Self.time)",
            "shadowPolicy":{"decision":\(decision),"outcome":"high","policy":\(policy),"verdicts":""},
            "velocity":[],"verdicts":""}}
            """)
        let shadow = record.shadowPolicy
        record.requestID = random.text()
        record.subject = random.pseudonym()
        record.action = random.pseudonym()
        record.category = random.pick(Policies.Category.allCases)
        record.attributes = attributes(&random)
        record.insights = random.some(of: 0...3) {
            InsightRequest(schema: Int64.random(in: 0...9, using: &$0), modelVersion: $0.text())
        }
        record.device = random.maybe { random in
            DeviceResult(
                value: random.double(), generatedAt: random.maybe { $0.instant() },
                requestID: random.maybe { $0.text() })
        }
        record.force = random.maybe { random in
            random.pick([
                .outcome(random.pick(Outcome.allCases)),
                .evaluationError(random.pick(Refusal.Code.allCases)),
                .insightError(random.pick(InsightError.allCases)),
            ])
        }
        record.evaluationID = random.identifier()
        record.receivedAt = random.instant()
        record.completedAt = random.instant()
        record.authorization = random.pick(AuthorizationStatus.allCases)
        record.authorizationEndsAt = random.maybe { $0.instant() }
        record.acting = insight(&random)
        record.results =
            random.flip() ? [record.acting] : random.some(of: 0...3) { insight(&$0) }
        record.newestModelVersion = random.text()
        record.velocity = random.some(of: 0...4) {
            $0.flip() ? .count(Int64.random(in: 0...Int64.max, using: &$0)) : .sum($0.double())
        }
        record.verdicts = verdicts(&random)
        record.decision = self.decision(&random)
        record.shadowDecision = random.maybe { self.decision(&$0) }
        record.shadowPolicy =
            random.maybe { random in
                var judgement = shadow
                judgement?.policy = random.reference()
                judgement?.outcome = random.pick(Outcome.allCases)
                judgement?.score = random.maybe { $0.double() }
                judgement?.verdicts = verdicts(&random)
                judgement?.decision = self.decision(&random)
                return judgement
            } ?? nil
        record.insightWasRead = random.flip()
        record.policy = random.reference()
        record.model = random.maybe { $0.reference() }
        record.configuration = random.text()
        record.reportDueAt = random.maybe { $0.instant() }
        record.labelDeadline = random.instant()
        return record
    }

    private func verdicts(_ random: inout SeededGenerator) -> [Verdict] {
        random.some(of: 0...9) { random in
            random.pick([
                .matched, .notMatched, .skipped, .missing, .matchedOnMissing, .failed,
                .matchedOnFailure,
            ])
        }
    }

    private func attributes(_ random: inout SeededGenerator) -> [RecordedAttribute] {
        let names = ["amount", "digest", "a", "timestamp", "z_9", "Z"].filter { _ in random.flip() }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
            let value: RecordedValue =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: .value(.bool(random.flip()))
                case 1: .value(.int(random.pick([0, -1, .max, .min, 5])))
                case 2: .value(.double(random.double()))
                case 3: .value(.string(random.text()))
                case 4: .value(.timestamp(random.instant()))
                default: .digest(random.pseudonym().text)
                }
            return RecordedAttribute(name: name, value: value)
        }
    }

    private func insight(_ random: inout SeededGenerator) -> InsightResult {
        let inputs = ["attributes.amount", "bias", "device.value"].filter { _ in random.flip() }
        return InsightResult(
            outcome: random.maybe { $0.pick(Outcome.allCases) },
            score: random.maybe { $0.double() }, modelVersion: random.text(),
            degraded: random.maybe { $0.text() },
            error: random.maybe { $0.pick(InsightError.allCases) },
            contributions: inputs.map { .init(input: $0, value: random.double()) },
            missing: random.some(of: 0...2) { $0.text() })
    }

    private func decision(_ random: inout SeededGenerator) -> Decision {
        Decision(
            output: DecisionOutput(
                friction: random.pick(Friction.allCases),
                steps: StepSet(Step.allCases.filter { _ in random.flip() }),
                holdFor: random.maybe { $0.duration() },
                notify: random.some(of: 0...3) { $0.text() }),
            reasons: random.some(of: 0...3) { random in
                Reason(
                    rule: random.text(), explanation: random.maybe { $0.text() },
                    note: random.maybe { $0.text() })
            })
    }

    /// A type of which one example is written out: what is stored must never change by itself.
    @Test func caseE23_E32_theBytesOfAnEvaluationAreFixed() throws {
        var random = SeededGenerator(seed: 1)
        var record = try evaluation(&random)
        record.attributes = [
            RecordedAttribute(name: "double", value: .value(.double(5))),
            RecordedAttribute(name: "int", value: .value(.int(5))),
            RecordedAttribute(
                name: "time", value: .value(.timestamp(Instant(milliseconds: 1_800_000_000_123)))),
        ]
        var writer = JSONWriter()
        record.write(to: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(
            text.contains(
                """
                "attributes":{"double":5.0,"int":5,"time":{"timestamp":"2027-01-15T08:00:00.123Z"}}
                """), "\(text)")
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"command":{}}"#, #"{"command":[],"result":{}}"#,
        #"{"command":{"app":1,"name":"x"}}"#, #"{"command":{"app":"a"}}"#,
    ])
    func whatIsNotAsWrittenIsCorruptAndSaysWhere(_ text: String) {
        let error = #expect(throws: CorruptEntry.self) { try read(AppRecord.self, text) }
        #expect(error?.sequence == 7)
        #expect(error?.description.hasPrefix("entry 7 cannot be read: ") == true)
        #expect(throws: CorruptEntry.self) { try read(EvaluationRecord.self, text) }
        #expect(throws: CorruptEntry.self) { try read(DonationRecord.self, text) }
        #expect(throws: CorruptEntry.self) { try read(LabelRecord.self, text) }
    }
}

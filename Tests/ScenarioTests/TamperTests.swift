import Foundation
import Glibc
import JSON
import Ledger
import Testing

extension Scenarios {
    /// What somebody does to a ledger who can write its database: each is found, and named. It has some
    /// 300 entries; `make prove` wants a million.
    @Suite struct Tampered {
        private static let wanted =
            ProcessInfo.processInfo.environment["DISCERN_TAMPERED_ENTRIES"].flatMap { Int($0) }
            ?? 300
        private static let recorded = Result { try Recorded() }

        /// A ledger of a real server that ended in good order, with an older copy of itself.
        private struct Recorded: Sendable {
            let data: String
            let backup: String
            let policies: String

            init() throws {
                let service = try Service([
                    "--dev", "--checkpoint-entries", "\(max(wanted / 6, 50))",
                ])
                let kept = NSTemporaryDirectory() + "discern-tampered-\(getpid())"
                // Nothing that lives as long as the process is taken down at its end.
                atexit {
                    try? FileManager.default.removeItem(
                        atPath: NSTemporaryDirectory() + "discern-tampered-\(getpid())")
                }
                (data, backup, policies) = (kept + "/data", kept + "/backup", kept + "/policies")
                try service.start()
                try Self.fill(service, 0..<wanted / 2)
                try #require(try service.stop() == 0)
                try Files.copy(service.data, to: backup)
                try service.start()
                try Self.fill(service, wanted / 2..<wanted)
                try #require(try service.stop() == 0)
                try Files.copy(service.data, to: data)
                try Files.copy(service.policies, to: policies)
            }

            static func fill(_ service: Service, _ numbers: Range<Int>) throws {
                let client = service.client()
                for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1_000) {
                    let payer = "payer-\(start)"
                    _ = try client.put("/v1/authorizations", Requests.authorization(payer))
                    let batch = (start..<min(start + 1_000, numbers.upperBound)).map {
                        Requests.evaluation("r\($0)", subject: payer, amount: 1)
                    }
                    let reply = try client.post(
                        "/v1/evaluations/batch", ["evaluations": .array(batch)])
                    let results = reply.json["results"]?.arrayValue ?? []
                    try #require(
                        results.count == batch.count
                            && results.allSatisfy { $0["status"]?.intValue == 201 })
                }
            }
        }

        /// A copy of the ledger, to be spoilt.
        private struct Copy {
            let service: Service
            var data: String { service.data }
            var latest: String { data + "/checkpoints/latest" }
            let size: Int64

            init() throws {
                let recorded = try Tampered.recorded.get()
                service = try Service(["--dev"])
                try Files.copy(recorded.data, to: service.data)
                try Self.setMode(service.data)
                size = try Tampering(service.data).number("SELECT count(*) FROM entries")
                #expect(size > Tampered.wanted)
            }

            /// Folders of copies must be the owner's alone, as those that the service makes.
            static func setMode(_ folder: String) throws { chmod(folder, 0o700) }

            func verify(_ arguments: String...) throws -> Program.Outcome {
                try Program.run(["audit", "verify", "--data", data] + arguments)
            }

            func expectFault(
                _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                let outcome = try verify()
                #expect(outcome.status == 6, sourceLocation: sourceLocation)
                for part in parts {
                    #expect(
                        outcome.errors.contains(part), "\(outcome.errors)",
                        sourceLocation: sourceLocation)
                }
            }

            func expectRefusedStart(
                _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                let outcome = try service.startInVain()
                #expect(outcome.status == 6, "\(outcome.errors)", sourceLocation: sourceLocation)
                for part in parts + ["--accept-ledger-fork", "\"level\":\"error\""] {
                    #expect(
                        outcome.errors.contains(part), "\(part)\n\(outcome.errors)",
                        sourceLocation: sourceLocation)
                }
            }
        }

        @Test func whatNobodyTouchedIsFine() throws {
            let copy = try Copy()
            let outcome = try copy.verify()
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.lines.first?.hasPrefix("\(copy.size) entries") == true)
            #expect(outcome.output.contains("as signed by discern/"))
            let root = try #require(SignedCheckpoint(Files.text(copy.latest))).checkpoint.root
            #expect(outcome.lines.contains("root \(root)"))
            // Every checkpoint that was ever made agrees, too.
            let all = try copy.verify("--checkpoint", copy.data + "/checkpoints/history")
            #expect(all.status == 0, "\(all.errors)")
            #expect(all.output.contains(" checkpoints"))
            let part = try copy.verify("--to", "100")
            #expect(part.lines.first?.hasPrefix("100 entries") == true, "\(part)")
            #expect(try copy.verify("--to", "100000").status == 2)
            try copy.service.start()
            #expect(try copy.service.stop() == 0)
        }

        @Test(arguments: [
            (
                """
                UPDATE entries SET payload = CAST(replace(CAST(payload AS TEXT), 'EUR', 'USD') AS BLOB)
                WHERE sequence = 57
                """, "entry 57: the digest is not that of salt and payload"
            ),
            (
                """
                UPDATE entries SET envelope = CAST(replace(CAST(envelope AS TEXT), '"key-', '"kez-')
                AS BLOB) WHERE sequence = 57
                """, "entry 57: its leaf hash is not that of its envelope"
            ),
            (
                "UPDATE entries SET kind = 'label' WHERE sequence = 57",
                "entry 57: `kind` of its row is not that of its envelope"
            ),
            (
                "UPDATE entries SET app = 'other' WHERE sequence = 57",
                "entry 57: `app` of its row is not that of its envelope"
            ),
            ("DELETE FROM entries WHERE sequence = 57", "entry 57: it is missing"),
            (
                """
                UPDATE entries SET sequence = -1 WHERE sequence = 57;
                UPDATE entries SET sequence = 57 WHERE sequence = 58;
                UPDATE entries SET sequence = 58 WHERE sequence = -1
                """, "entry 57: `sequence` of its row is not that of its envelope"
            ),
            (
                """
                UPDATE entries SET nodes = CAST(substr(nodes, 1, 32) || randomblob(32) AS BLOB)
                WHERE sequence = 58
                """,
                "entry 58: the hash over 2 entries is not theirs"
            ),
            (
                """
                INSERT INTO entries SELECT 0, at, kind, app, environment, envelope, nodes, keys, salt,
                    payload FROM entries WHERE sequence = 1
                """, "there is an entry with the number 0"
            ),
            (
                """
                DROP TABLE entries
                """, "no such table: entries"
            ),
        ])
        func changesAreNamed(sql: String, fault: String) throws {
            let copy = try Copy()
            try Tampering(copy.data).run(sql)
            try copy.expectFault(fault)
        }

        @Test func aDamagedFileIsNamed() throws {
            let copy = try Copy()
            let file = try #require(FileHandle(forUpdatingAtPath: copy.data + "/discern.db"))
            try file.seek(toOffset: file.seekToEnd() / 2)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 8_192))
            try file.close()
            try copy.expectFault("discern audit verify:")
            try Files.write("something else\n", to: copy.data + "/discern.db")
            try copy.expectFault("is not a database of discern")
        }

        @Test func aCutTailIsFound() throws {
            let copy = try Copy()
            try Tampering(copy.data).run(
                "DELETE FROM entries WHERE sequence > \(copy.size - 10)")
            try copy.expectFault(
                "entry \(copy.size - 9): missing", "\(copy.size) entries",
                "\(copy.size - 10) entries")
            try copy.expectRefusedStart(
                "10 entries less", "expected  \(copy.size) entries",
                "found     \(copy.size - 10) entries", copy.latest)
        }

        @Test func anEmptiedTableIsFound() throws {
            let copy = try Copy()
            try Tampering(copy.data).run("DELETE FROM entries")
            try copy.expectFault("entry 1: missing")
            try copy.expectRefusedStart("found     0 entries")
            for file in ["", "-wal", "-shm"] { unlink(copy.data + "/discern.db" + file) }
            try copy.expectFault("there is no database")
            try copy.expectRefusedStart("there is no ledger")
        }

        @Test func anOlderBackupIsFound() throws {
            let copy = try Copy()
            for file in ["-wal", "-shm"] { unlink(copy.data + "/discern.db" + file) }
            try Files.copy(Self.recorded.get().backup, to: copy.data, only: "discern.db")
            try copy.expectFault("or this is an older copy", "\(copy.size) entries")
            try copy.expectRefusedStart("less than its latest checkpoint")
        }

        @Test func aRewrittenLedgerIsFound() throws {
            let copy = try Copy()
            _ = try Tampering(copy.data).rewrite(from: 57, payload: "{\"command\":{}}")
            try copy.expectFault("entries 1 to \(copy.size) were rewritten", "root is not that")
            try copy.expectRefusedStart("another than that of its latest checkpoint")
            // The history says between which checkpoints.
            let outcome = try copy.verify("--checkpoint", copy.data + "/checkpoints/history")
            #expect(outcome.status == 6)
            let range = try #require(
                outcome.errors.firstMatch(of: #/entries (\d+) to (\d+) were rewritten/#),
                "\(outcome.errors)")
            #expect(Int(range.1) ?? 0 > 1)
            #expect(Int(range.1) ?? 0 <= 57 && Int(range.2) ?? 0 >= 57)
        }

        @Test func aRewriteSignedWithAnotherKeyIsFound() throws {
            let copy = try Copy()
            let name = try #require(SignedCheckpoint(Files.text(copy.latest))).checkpoint.origin
            let known = Files.text(copy.data + "/checkpoint.pub")
            let (size, root) = try Tampering(copy.data).rewrite(
                from: 57, payload: "{\"command\":{}}")
            let (forger, secret) = try #require(NoteSigner.make(name: name))
            let note = try #require(
                SignedCheckpoint(Checkpoint(origin: name, size: size, root: root), by: forger))
            try Files.write(note.note.note, to: copy.latest)
            try copy.expectFault("signed by none of the known keys")
            try copy.expectRefusedStart("signed by none of the keys")
            // Who can put another key into the data folder as well is found by the key that was kept
            // elsewhere.
            try Files.write(secret + "\n", to: copy.data + "/checkpoint.key")
            try Files.write("\(forger.verifier)\n", to: copy.data + "/checkpoint.pub")
            #expect(try copy.verify().status == 0)
            let outcome = try copy.verify("--vkey", known.filter { !$0.isNewline })
            #expect(outcome.status == 6)
            #expect(outcome.errors.contains("signed by none of the known keys"))
        }

        @Test func aCheckpointThatIsGoneIsFound() throws {
            let copy = try Copy()
            unlink(copy.latest)
            try copy.expectFault("latest is missing")
            try copy.expectRefusedStart("the latest is missing")
            try Files.write("nothing\n", to: copy.latest)
            try copy.expectFault("holds no checkpoint")
            try copy.expectRefusedStart("the latest checkpoint is none")
        }

        @Test func aPayloadThatIsGoneWithoutAnErasureIsFound() throws {
            let copy = try Copy()
            try Tampering(copy.data).run(
                "UPDATE entries SET payload = NULL, salt = NULL WHERE sequence = 57")
            try copy.expectFault("entry 57: its payload and its salt are gone")
        }

        @Test func aForkThatIsMeantIsRecorded() throws {
            let copy = try Copy()
            try Tampering(copy.data).run(
                "DELETE FROM entries WHERE sequence > \(copy.size - 10)")
            let accepting = try Service(["--dev", "--accept-ledger-fork", "restored on purpose"])
            accepting.data = copy.data
            try accepting.start()
            let ledger = try AuditedLedger(accepting.client(key: accepting.operatorKey))
            let fork = try #require(ledger.of(kind: "ledgerFork").first)
            #expect(fork.sequence == copy.size - 9)
            #expect(fork.command["reason"] == "restored on purpose")
            #expect(fork.command["expected"]?["size"]?.intValue == copy.size)
            #expect(fork.command["found"]?["size"]?.intValue == copy.size - 10)
            #expect(try accepting.stop() == 0)
            #expect(Files.text(accepting.errors).contains("was accepted"))
            let aside = copy.latest + ".before-entry-\(copy.size - 9)"
            #expect(SignedCheckpoint(Files.text(aside))?.checkpoint.size == UInt64(copy.size))
            #expect(try copy.verify().status == 0)
            // It accepts what it was told of, and not the next one unseen.
            let again = try accepting.startInVain()
            #expect(again.status == 2)
            #expect(again.errors.contains("there is none to accept"))
            try copy.service.start()
            #expect(try copy.service.stop() == 0)
        }
    }
}

import Foundation
import Glibc
import JSON
import Ledger
import Testing

extension Scenarios {
    /// Checkpoints that a running service makes, and proofs against them.
    @Suite struct Checkpoints {
        private static func latest(_ folder: String) -> Checkpoint? {
            SignedCheckpoint(Files.text(folder + "/latest"))?.checkpoint
        }

        private static func evaluate(_ client: Client, _ ids: [String]) throws {
            for id in ids {
                let body = Requests.evaluation(id, subject: "payer", amount: 1)
                try #require(try client.post("/v1/evaluations", body).status == 201)
            }
        }

        private static func authorize(_ client: Client) throws {
            _ = try client.put("/v1/authorizations", Requests.authorization("payer"))
        }

        @Test func theFirstIsThereWhenItListensAndTheLastWhenItEnds() throws {
            let service = try Service.started()
            let folder = service.data + "/checkpoints"
            let first = try #require(Self.latest(folder))
            #expect(first.size == 5)
            #expect(first.origin.hasPrefix("discern/"))
            try Self.authorize(service.client())
            try Self.evaluate(service.client(), ["a", "b"])
            #expect(Self.latest(folder) == first, "nothing is due yet")
            #expect(try service.stop() == 0)
            #expect(Self.latest(folder)?.size == 8)
            for (file, mode) in [
                ("/checkpoint.key", 0o600), ("/checkpoint.pub", 0o600), ("/checkpoints", 0o700),
            ] {
                var status = stat()
                #expect(stat(service.data + file, &status) == 0)
                #expect(status.st_mode & 0o777 == mode_t(mode), "\(file)")
            }
            let key = try service.command("audit", "checkpoint", "--show-key")
            #expect(key.output == Files.text(service.data + "/checkpoint.pub"))
            let verifier = try #require(NoteVerifier(key.lines.first ?? ""))
            let note = try #require(SignedCheckpoint(Files.text(folder + "/latest")))
            #expect(note.isSigned(by: [verifier]))
            // Nothing new: nothing is signed, and the history has both.
            try service.start()
            #expect(try service.stop() == 0)
            let sizes = Files.text(folder + "/history").split(separator: "\n").compactMap {
                Int($0)
            }
            #expect(sizes == [5, 8])
        }

        @Test(arguments: [
            ["--checkpoint-entries", "7", "--checkpoint-interval", "1d"],
            ["--checkpoint-interval", "100ms"],
        ])
        func itIsMadeByCountOrTime(options: [String]) throws {
            let elsewhere = try TemporaryFolder()
            let folder = elsewhere.path + "/notes"
            let service = try Service.started(
                ["--dev", "--checkpoints", folder, "--origin", "example.com/ledger"] + options)
            try Self.authorize(service.client())
            try Self.evaluate(service.client(), (0..<20).map(String.init))
            let isCovered = Wait.until { (Self.latest(folder)?.size ?? 0) >= 20 ? true : nil }
            #expect(isCovered == true)
            #expect(Self.latest(folder)?.origin == "example.com/ledger")
            #expect(!FileManager.default.fileExists(atPath: service.data + "/checkpoints"))
            #expect(try service.stop() == 0)
            let verified = try service.command("audit", "verify", "--checkpoints", folder)
            #expect(verified.status == 0, "\(verified.errors)")
            // Without the folder the checkpoints are missed.
            #expect(try service.command("audit", "verify").status == 6)
            let other = try Service(["--dev", "--checkpoints", folder, "--origin", "other"])
            other.data = service.data
            let refused = try other.startInVain()
            #expect(refused.status == 2)
            #expect(refused.errors.contains("a ledger keeps its name"))
        }

        @Test func aKillRightAfterACheckpointHarmsNothing() throws {
            let service = try Service.started(["--dev", "--checkpoint-interval", "100ms"])
            let folder = service.data + "/checkpoints"
            for round in 0..<3 {
                try Self.authorize(service.client())
                let before = try #require(Self.latest(folder)).size
                let (port, key) = (service.port, service.key)
                let threads = Threads(8) { index in
                    let client = Client(port: port, key: key)
                    for number in 0... {
                        guard
                            (try? Self.evaluate(client, ["\(round)-\(index)-\(number)"])) != nil
                        else { return }
                    }
                }
                _ = Wait.until { (Self.latest(folder)?.size ?? 0) > before + 20 ? true : nil }
                try service.kill()
                threads.join()
                let verified = try service.command("audit", "verify")
                #expect(verified.status == 0, "\(verified.errors)")
                try service.start()
            }
            #expect(try service.stop() == 0)
            let verified = try service.command(
                "audit", "verify", "--checkpoint", folder + "/history")
            #expect(verified.status == 0, "\(verified.errors)")
        }

        @Test func proofsAreGivenAndChecked() throws {
            let service = try Service.started()
            let client = service.client(key: service.operatorKey)
            try Self.authorize(service.client())
            try Self.evaluate(service.client(), ["a", "b", "c"])
            let old = try #require(try client.get("/v1/audit/checkpoint").string("checkpoint"))
            #expect(SignedCheckpoint(old)?.checkpoint.size == 5)
            let stale = try client.get("/v1/audit/entries/8/proof")
            #expect(stale.status == 422, "\(stale.text)")
            let made = try service.command("audit", "checkpoint")
            #expect(SignedCheckpoint(made.output)?.checkpoint.size == 9)
            #expect(try client.get("/v1/audit/checkpoint").string("checkpoint") == made.output)
            let vkey = Files.text(service.data + "/checkpoint.pub").filter { !$0.isNewline }
            #expect(try client.get("/v1/audit/checkpoint").string("key") == vkey)

            let path = service.folder.path + "/proof"
            func check(_ text: String, _ more: [String] = []) throws -> Program.Outcome {
                try Files.write(text, to: path)
                return try Program.run(["audit", "verify-proof", path, "--vkey", vkey] + more)
            }
            let ofApp = try service.client().get("/v1/audit/entries/8/proof")
            let ofOperator = try client.get("/v1/audit/entries/8/proof?size=9")
            #expect(ofApp.body == ofOperator.body)
            let verified = try check(ofApp.text)
            #expect(verified.status == 0, "\(verified.errors)")
            #expect(verified.output.hasPrefix("entry 8 (evaluation, "))
            #expect(verified.output.contains("is one of the first 9, as signed by discern/"))
            #expect(try service.command("audit", "proof", "8").output == ofApp.text + "\n")
            // The same by the script, which has no code of ours.
            let changed = ofApp.text.replacingOccurrences(of: "\"key-", with: "\"kez-")
            #expect(try check(changed).status == 6)
            #expect(try check(String(ofApp.text.dropLast())).status == 6)
            let others = try check(ofApp.text, ["--vkey", Self.otherKey(of: vkey)])
            #expect(others.status == 0, "one of the keys is enough")
            #expect(
                try Program.run(["audit", "verify-proof", path, "--vkey", Self.otherKey(of: vkey)])
                    .status == 6)

            let consistency = try client.get("/v1/audit/consistency?from=5&to=9")
            #expect(try client.get("/v1/audit/consistency?from=5").body == consistency.body)
            let unvouched = try check(consistency.text)
            #expect(unvouched.status == 1)
            #expect(unvouched.errors.contains("nobody vouches for the root of 5 entries"))
            try Files.write(old, to: service.folder.path + "/old")
            let vouched = try check(
                consistency.text, ["--checkpoint", service.folder.path + "/old"])
            #expect(vouched.status == 0, "\(vouched.errors)")
            #expect(
                vouched.output.hasPrefix("the first 5 entries are the beginning of the first 9"))
            // The command finds the older note in the history by itself.
            let whole = try service.command("audit", "consistency", "5", "9")
            #expect(try check(whole.output).status == 0)
            #expect(try service.command("audit", "consistency", "5").output == whole.output)
            #expect(try service.stop() == 0)
        }

        private static func otherKey(of vkey: String) throws -> String {
            let name = String(vkey.prefix { $0 != "+" })
            return try #require(NoteSigner.make(name: name)).signer.verifier.description
        }

        @Test(arguments: [
            ("/v1/audit/entries/99/proof", 404), ("/v1/audit/entries/x/proof", 404),
            ("/v1/audit/entries/0/proof", 404), ("/v1/audit/entries/1/proof?size=99", 422),
            ("/v1/audit/entries/1/proof?size=0", 422), ("/v1/audit/entries/3/proof?size=2", 422),
            ("/v1/audit/entries/1/proof?sise=1", 422), ("/v1/audit/consistency", 422),
            ("/v1/audit/consistency?from=4&to=3", 422), ("/v1/audit/consistency?from=-1", 422),
            ("/v1/audit/consistency?from=9223372036854775807", 422),
        ])
        func whatCannotBeProved(path: String, status: Int) throws {
            let service = try Self.running.get()
            let client = service.client(key: service.operatorKey)
            let answer = try client.get(path)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.code != nil)
        }

        /// An app sees proofs of its own entries alone.
        @Test func entriesOfOthersAreNotProved() throws {
            let service = try Self.running.get()
            #expect(try service.client().get("/v1/audit/entries/1/proof").status == 404)
            #expect(try service.client().post("/v1/audit/checkpoint", .null).status == 403)
            #expect(try service.client(key: "none").get("/v1/audit/checkpoint").status == 401)
        }

        private struct Running: @unchecked Sendable {
            // Unchecked: the scenarios run one after another.
            let service: Service
        }

        private static let shared = Result { Running(service: try Service.started()) }
        private static var running: Result<Service, any Error> { shared.map(\.service) }

        private static let wrongWords: [(words: String, status: Int32)] = [
            ("proof", 2), ("proof x", 2), ("proof 0", 2), ("proof 99", 2), ("proof 1 --size 99", 2),
            ("consistency 4 3", 2), ("consistency 1 99", 2), ("verify --vkey nothing", 2),
            ("verify --checkpoint /nowhere", 1), ("verify-proof /nowhere", 1), ("verify-proof", 2),
        ]

        @Test(arguments: wrongWords)
        func wordsThatAreWrong(words: String, status: Int32) throws {
            let service = try Self.running.get()
            let outcome = try Program.run(
                ["audit"] + words.split(separator: " ").map(String.init) + ["--data", service.data])
            #expect(outcome.status == status, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("discern audit "))
        }

        /// The server's own thread looks at what it signs.
        @Test func aLedgerThatIsChangedUnderTheServerIsNotSigned() throws {
            let service = try Service.started()
            let client = service.client(key: service.operatorKey)
            try Self.authorize(service.client())
            _ = try Tampering(service.data).rewrite(from: 3, payload: "{}")
            let answer = try client.post("/v1/audit/checkpoint", .null)
            #expect(answer.status == 503)
            #expect(answer.text.contains("changed while the server ran"), "\(answer.text)")
            let ready = try client.get("/readyz")
            #expect(ready.status == 200)
            #expect(ready.text.contains("no checkpoint of the ledger could be made"))
            #expect(try client.get("/metrics").text.contains("discern_checkpoint_failed 1"))
            #expect(Self.latest(service.data + "/checkpoints")?.size == 5)
            #expect(try service.stop() == 0)
            #expect(Files.text(service.errors).contains("no checkpoint was made"))
            #expect(try service.startInVain().status == 6)
        }

        /// A folder that cannot be written is told, and harms no request; then all goes on.
        @Test func aFolderThatIsGoneIsToldAndComesBack() throws {
            let service = try Service.started()
            let client = service.client(key: service.operatorKey)
            let folder = service.data + "/checkpoints"
            rename(folder, folder + ".away")
            try Self.authorize(service.client())
            try Self.evaluate(service.client(), ["a"])
            #expect(try client.post("/v1/audit/checkpoint", .null).status == 503)
            #expect(try client.get("/readyz").text.contains(folder))
            rename(folder + ".away", folder)
            #expect(try client.post("/v1/audit/checkpoint", .null).status == 200)
            #expect(try !client.get("/readyz").text.contains(folder))
            #expect(try client.get("/metrics").text.contains("discern_checkpoint_failed 0"))
            #expect(Self.latest(folder)?.size == 7)
            #expect(try service.stop() == 0)
        }

        @Test func aKeyIsRotated() throws {
            let service = try Service.started()
            let old = Files.text(service.data + "/checkpoint.pub").filter { !$0.isNewline }
            #expect(try service.stop() == 0)
            unlink(service.data + "/checkpoint.key")
            try service.start()
            let keys = Files.text(service.data + "/checkpoint.pub").split(separator: "\n")
            #expect(keys.count == 2)
            #expect(keys.last.map(String.init) == old)
            #expect(keys.first?.prefix { $0 != "+" } == old.prefix { $0 != "+" })
            #expect(Files.text(service.errors).contains("with another key than before"))
            #expect(try service.stop() == 0)
            #expect(try service.command("audit", "verify").status == 0)
            let history = service.data + "/checkpoints/history"
            #expect(try service.command("audit", "verify", "--checkpoint", history).status == 0)
            #expect(try service.command("audit", "verify", "--vkey", old).status == 6)
        }

        /// The first checkpoint of a ledger that has entries already is worth a warning.
        @Test func aLedgerWithoutCheckpointsIsTold() throws {
            let service = try Service.started()
            #expect(try service.stop() == 0)
            #expect(!Files.text(service.errors).contains("had no checkpoint before"))
            for file in ["key", "pub"] { unlink(service.data + "/checkpoint.\(file)") }
            try FileManager.default.removeItem(atPath: service.data + "/checkpoints")
            try service.start()
            #expect(Files.text(service.errors).contains("had no checkpoint before\",\"entries\":5"))
            #expect(try service.stop() == 0)
        }

        /// Looking at a ledger writes nothing to it.
        @Test func listingWritesNothing() throws {
            let service = try Service.started()
            #expect(try service.stop() == 0)
            let before = Files.bytes(service.data + "/discern.db")
            let list = try service.command("audit", "list")
            #expect(list.lines.count == 5)
            #expect(try service.command("audit", "list", "--kind", "key").lines.count == 2)
            #expect(Files.bytes(service.data + "/discern.db") == before)
            #expect(Files.bytes(service.data + "/discern.db-wal").isEmpty)
        }
    }
}

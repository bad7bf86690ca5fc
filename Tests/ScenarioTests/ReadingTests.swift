import Foundation
import Glibc
import Testing

extension Scenarios {
    /// What reads a data folder, or is refused there, leaves the database as it is.
    @Suite struct Reading {
        /// A folder whose server was killed: the log is not moved into the database yet, which
        /// whoever opens it for writing does when he closes it.
        private static func killed() throws -> Service {
            let service = try Service.started([])
            #expect(try service.command("apps", "create", "shop").status == 0)
            let key = try service.command("keys", "create", "--app", "shop").output
            let client = service.client(key: key.trimmingCharacters(in: .whitespacesAndNewlines))
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            #expect(try client.post("/v1/evaluations", Requests.evaluation("a")).status == 201)
            try service.kill()
            return service
        }

        @Test func nothingIsWrittenByReading() throws {
            let service = try Self.killed()
            let policies = service.policies
            let reference = "transcripts-payments@3"
            // Tests of no policy are there, so a guard refuses.
            let untested = service.folder.path + "/untested"
            try Files.copy(policies + "/models", to: untested)
            let before = try State(service)
            #expect(
                before.files["discern.db-wal"]?.isEmpty == false, "there must be something to move")
            let cases: [(words: [String], status: Int32)] = [
                (["policies", "list"], 0), (["policies", "history"], 0),
                (["policies", "compare"], 0), (["apps", "list"], 0), (["keys", "list"], 0),
                (["explain", "a"], 0), (["backtest", policies + "/transcripts-payments.yaml"], 0),
                (["diff", policies, policies], 0),
                // Refused: by a guard, as unknown, as nothing to take back.
                (
                    [
                        "policies", "activate", reference, "-m", "x", "-p", untested, "--app",
                        "shop", "--environment", "sandbox",
                    ], 5
                ),
                // Acts already.
                (["policies", "activate", reference, "-m", "x", "-p", untested], 0),
                (["policies", "activate", "none@1", "-m", "x", "-p", policies], 1),
                (["policies", "deactivate", "none", "-m", "x"], 1),
                (["policies", "rollback", "none", "-m", "x"], 1),
                (["keys", "revoke", "none"], 1), (["apps", "create", "/"], 1),
            ]
            for (words, status) in cases {
                let run = try Program.run(words + ["--data", service.data])
                #expect(run.status == status, "\(words): \(run.errors)")
                let after = try State(service)
                let names = Set(after.files.keys).union(before.files.keys)
                let changed = names.filter { after.files[$0] != before.files[$0] }.sorted()
                #expect(changed == [], "\(words)")
            }
            // What is allowed is written.
            let shadow = try service.command(
                "policies", "activate", reference, "-m", "x", "--shadow", "-p", policies)
            #expect(shadow.status == 0, "\(shadow.errors)")
            let isWritten = try State(service) != before
            #expect(isWritten)
            let history = try service.command("policies", "history", "--limit", "1")
            #expect(history.output.contains("in shadow"), "\(history.output)")
        }

        /// Runs a command as somebody who owns nothing, if this process may do that.
        private static func stranger(_ words: [String]) throws -> Program.Outcome {
            guard geteuid() == 0 else { return try Program.run(words) }
            return try Program.run(
                ["--reuid=65534", "--regid=65534", "--clear-groups", Program.path] + words,
                of: "/usr/bin/setpriv")
        }

        /// A copy that only its owner may write is read by others: as it is, without the files that
        /// SQLite would make beside it. One with a log needs more, which is said.
        @Test(
            .enabled(
                if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0, "needs setpriv"))
        func aCopyThatCannotBeWrittenIsRead() throws {
            let service = try Self.killed()
            let policy = service.policies + "/transcripts-payments.yaml"
            // `#`, `%` and `?` mean something in SQLite's URIs.
            let copy = service.folder.path + "/a copy#1 50%25?x"
            func protect() {
                for path in Files.all(in: copy) + Files.all(in: service.policies) {
                    chmod(path, 0o444)
                }
                chmod(copy, 0o555)
            }
            try Files.copy(service.data, to: copy)
            unlink(copy + "/discern.db-shm")
            unlink(copy + "/server.json")
            protect()
            defer { chmod(copy, 0o755) }
            let refused = try Self.stranger(["policies", "list", "--data", copy])
            #expect(refused.status == 1)
            #expect(refused.errors.contains("discern.db-wal"), "\(refused.errors)")
            #expect(refused.errors.contains("the right to write"), "\(refused.errors)")
            // A clean stop moves the log into the database.
            try service.start()
            #expect(try service.stop() == 0)
            chmod(copy, 0o755)
            try FileManager.default.removeItem(atPath: copy)
            try Files.copy(service.data, to: copy)
            protect()
            let commands = [
                ["policies", "list"], ["policies", "compare"], ["explain", "a"],
                ["backtest", policy],
            ]
            for words in commands {
                let run = try Self.stranger(words + ["--data", copy])
                #expect(run.status == 0, "\(words): \(run.errors)")
            }
        }

        /// Reading takes no lock and needs no right to write.
        @Test func whatIsLockedCanBeRead() throws {
            let service = try Self.killed()
            let lock = open(service.data + "/lock", O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
            unlink(service.data + "/server.json")
            #expect(try service.command("policies", "list").status == 0)
            let change = try service.command("policies", "rollback", "none", "-m", "x")
            #expect(change.status == 1 && change.errors.contains("in use"), "\(change.errors)")
        }

        private struct State: Equatable {
            /// All files by name, but for the one that readers of the database share.
            var files: [String: [UInt8]] = [:]

            init(_ service: Service) throws {
                for path in Files.all(in: service.data) where !path.hasSuffix("-shm") {
                    files[String(path.dropFirst(service.data.count + 1))] = Files.bytes(path)
                }
            }
        }
    }
}

import Foundation
import Glibc
import JSON
import Testing

extension Scenarios {
    /// What a start says when it cannot be.
    @Suite struct Start {
        /// Exactly so much is said, in words an operator can use, and never a trace of Swift.
        private static func expect(
            _ outcome: Program.Outcome, status: Int32, _ words: String...,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(outcome.status == status, "\(outcome)", sourceLocation: sourceLocation)
            for word in words {
                #expect(
                    outcome.errors.contains(word), "\(word) in: \(outcome.errors)",
                    sourceLocation: sourceLocation)
            }
            #expect(!outcome.output.contains("listening on"), sourceLocation: sourceLocation)
            #expect(!outcome.errors.contains("Fatal error"), sourceLocation: sourceLocation)
        }

        @Test func fileThatIsNoDatabase() throws {
            let service = try Service.started()
            #expect(try service.stop() == 0)
            let database = service.data + "/discern.db"
            let good = Files.bytes(database)
            let bad = String(repeating: "This is a letter, not a database.\n", count: 500)
            try Files.write(bad, to: database)
            try Self.expect(
                service.startInVain(), status: 1, database, "not a database of discern")
            #expect(Files.text(database) == bad, "somebody else's file is not touched")
            let list = try service.command("audit", "list")
            #expect(list.status == 1)
            #expect(list.errors.contains("not a database of discern"))

            // Half of ours is no database either.
            try Data(good.prefix(good.count / 2)).write(to: URL(fileURLWithPath: database))
            try Self.expect(service.startInVain(), status: 1, "malformed")
            try Data(good).write(to: URL(fileURLWithPath: database))
            try service.start()
            #expect(try service.stop() == 0)
        }

        @Test func keyOfAnotherDatabaseOrNone() throws {
            let service = try Service.started()
            #expect(try service.stop() == 0)
            let path = service.data + "/pseudonym.key"
            let good = Files.text(path)
            try Files.write(String(repeating: "0", count: 64) + "\n", to: path)
            try Self.expect(service.startInVain(), status: 1, path, "restore the right file")
            try Files.write("short\n", to: path)
            try Self.expect(service.startInVain(), status: 1, path, "64 hexadecimal digits")
            try FileManager.default.removeItem(atPath: path)
            try Self.expect(service.startInVain(), status: 1, path, "missing")
            try Files.write(good, to: path)
            try service.start()
            #expect(try service.stop() == 0)
        }

        @Test func folderOfARunningServer() throws {
            let service = try Service.started()
            try Self.expect(
                service.startInVain(), status: 1, service.data, "in use by another process")
            // The one that runs is not disturbed, and commands find their way through it.
            #expect(try service.client().get("/readyz").status == 200)
            let app = try service.command("apps", "create", "shop")
            #expect(app.status == 0, "\(app.errors)")
            #expect(try service.command("apps", "list").lines == ["dev  Development", "shop"])
            let again = try service.command("apps", "create", "shop")
            #expect(again.status == 1)
            #expect(again.errors.contains("[alreadyExists]"))
            #expect(try service.stop() == 0)
            // A lock does not outlive its process.
            try service.start()
            try service.kill()
            try service.start()
        }

        @Test func commandsAtTheSameTime() throws {
            let service = try Service.started()
            // Where it ran stays behind, and is no address any more.
            try service.kill()
            #expect(Files.text(service.data + "/server.json").contains("\(service.port)"))
            let outcomes = Gathered<Program.Outcome>()
            let data = service.data
            concurrently(6) { index in
                let words = ["apps", "create", "app-\(index)", "--data", data]
                if let outcome = try? Program.run(words) { outcomes.add(outcome) }
            }
            #expect(outcomes.count == 6)
            for outcome in outcomes.all where outcome.status != 0 {
                Self.expect(outcome, status: 1, "in use by another process")
            }
            let registered = outcomes.all.filter { $0.status == 0 }
                .map { $0.output.replacingOccurrences(of: "registered ", with: "") }
            #expect(!registered.isEmpty)
            try service.start()
            let listed = try service.command("apps", "list").lines.filter { $0.hasPrefix("app-") }
            #expect(
                listed == registered.flatMap { $0.split(separator: "\n").map(String.init) }.sorted()
            )
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            ledger.verify()
        }

        @Test func foldersThatCannotBe() throws {
            let service = try Service()
            try Files.write("", to: service.folder.path + "/file")
            for path in ["/file", "/file/data"] {
                service.data = service.folder.path + path
                try Self.expect(service.startInVain(), status: 1, service.data)
            }
            // Where not even root can make one.
            service.data = "/proc/discern-data"
            try Self.expect(service.startInVain(), status: 1, service.data)
            service.data = service.folder.path + "/data"
            service.policies = service.folder.path + "/nowhere"
            try Self.expect(service.startInVain(), status: 3, service.policies)
        }

        @Test(
            .enabled(if: geteuid() != 0, "root may write everywhere"))
        func folderThatMayNotBeWritten() throws {
            let service = try Service.started()
            #expect(try service.stop() == 0)
            chmod(service.data, 0o500)
            defer { chmod(service.data, 0o700) }
            let outcome = try service.startInVain()
            Self.expect(outcome, status: 1, service.data)
        }

        @Test func policyWithATypeError() throws {
            let service = try Service()
            let path = service.policies + "/transcripts-payments.yaml"
            let text = Files.text(path)
            try Files.write(
                text.replacingOccurrences(
                    of: #"insight.outcome == "high" && velocity"#,
                    with: "insight.outcome == 7 && velocity"), to: path)
            let outcome = try service.startInVain()
            Self.expect(outcome, status: 3, "discern serve: the policies are invalid")
            let line = text.split(separator: "\n", omittingEmptySubsequences: false)
                .firstIndex { $0.contains("velocity.spent24h > 5000.0") }
            let place = try Regex(#"transcripts-payments\.yaml:(\d+):\d+: error: .* \[.+\]"#)
            let found = try #require(outcome.errors.firstMatch(of: place), "\(outcome.errors)")
            #expect(found[1].substring.flatMap { Int($0) } == line.map { $0 + 1 })
            // And once it is right, the same folder serves.
            try Files.write(text, to: path)
            try service.start()
            #expect(try service.client().get("/readyz").status == 200)
        }

        @Test func wordsThatAreWrong() throws {
            for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
                let outcome = try Program.run(["serve", "--dev", "--listen", address])
                Self.expect(outcome, status: 2, "loopback")
            }
            for words in [
                ["--listen", "nowhere"], ["--listen", "127.0.0.1:99999"], ["--colour", "red"],
                ["--threads", "1"], ["--log-level", "loud"], ["--config", "/nowhere"], ["extra"],
            ] {
                let outcome = try Program.run(["serve"] + words)
                Self.expect(outcome, status: 2, "discern serve:")
            }
            let service = try Service.started()
            let other = try Service(["--dev", "--listen", "127.0.0.1:\(service.port)"])
            try Self.expect(other.startInVain(), status: 1, "127.0.0.1:\(service.port)")
        }
    }

    /// Policies that turn bad while the service runs.
    @Suite struct BadPolicies {
        /// Ways to spoil the payments policy, with what the diagnostics must say.
        private static let faults:
            [(name: String, spoil: @Sendable (String) -> String, says: String)] =
                [
                    (
                        "a type error",
                        {
                            $0.replacingOccurrences(
                                of: "velocity.spent24h > 5000.0", with: "velocity.spent24h > true")
                        }, "transcripts-payments.yaml:"
                    ),
                    ("nothing", { _ in "" }, "transcripts-payments.yaml"),
                    (
                        "half of it", { String($0.prefix($0.count / 2)) },
                        "transcripts-payments.yaml"
                    ),
                    (
                        "other content under the same version",
                        { $0.replacingOccurrences(of: "500.0", with: "600.0") },
                        "transcripts-payments@3"
                    ),
                    (
                        "a second policy for a category",
                        {
                            $0.replacingOccurrences(
                                of: "name: transcripts-payments", with: "name: other")
                        },
                        "payment"
                    ),
                ]

        /// Whether the service says that its latest policies did not load, while it is ready.
        private static func isWarned(_ client: Client) throws -> Bool {
            let ready = try client.get("/readyz")
            #expect(ready.status == 200)
            return ready.text.contains("policies did not load")
        }

        @Test(arguments: faults.map(\.name)) func lastGoodSetKeepsActing(fault: String) throws {
            let service = try Service.started()
            let client = service.client()
            let spoil = try #require(Self.faults.first { $0.name == fault })
            let path = service.policies + "/transcripts-payments.yaml"
            let text = Files.text(path)
            let isSecond = fault.hasPrefix("a second")
            let place = isSecond ? service.policies + "/other.yaml" : path
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            func spoilt(_ id: String) throws {
                let answer = try client.post("/v1/evaluations", Requests.evaluation(id))
                #expect(answer.status == 201)
                #expect(answer["policy"]?["version"] == 3)
                let ready = try client.get("/readyz")
                // It goes on serving as before, so it is ready; and it says what is wrong.
                #expect(ready.status == 200)
                #expect(ready.text.contains("policies did not load"), "\(ready.text)")
                #expect(ready.text.contains(spoil.says), "\(ready.text)")
                #expect(try client.get("/healthz").status == 200)
                #expect(try client.get("/metrics").text.contains("discern_policies_failed 1"))
            }
            func good() throws {
                if isSecond { try FileManager.default.removeItem(atPath: place) }
                try Files.write(text, to: path)
            }

            // By request.
            try Files.write(spoil.spoil(text), to: place)
            let refused = try client.post("/v1/policies/reload", .null)
            #expect([409, 422].contains(refused.status))
            #expect(["policyInvalid", "policyConflict"].contains(refused.code), "\(refused.text)")
            #expect(refused.text.contains(spoil.says), "\(refused.text)")
            try spoilt("by-request")
            try good()
            #expect(try client.post("/v1/policies/reload", .null).status == 200)
            #expect(try !Self.isWarned(client))

            // By signal.
            try Files.write(spoil.spoil(text), to: place)
            service.process?.signal(SIGHUP)
            let isSeen = try Wait.until { try Self.isWarned(client) ? true : nil }
            #expect(isSeen == true)
            // It is said a moment after it is known.
            let isSaid = Wait.until {
                Files.text(service.errors).contains(spoil.says) ? true : nil
            }
            #expect(isSaid == true)
            try spoilt("by-signal")

            // And at a start: what acted before goes on acting.
            #expect(try service.stop() == 0)
            try service.start()
            try Self.afterRestart(service)
            try good()
            service.process?.signal(SIGHUP)
            let isWell = try Wait.until {
                try Self.isWarned(service.client()) ? nil : true
            }
            #expect(isWell == true)
            let failed = try AuditedLedger(service.client(key: service.operatorKey))
                .of(kind: "policies").filter { $0.result["faults"]?.arrayValue?.isEmpty == false }
            #expect(failed.count >= 3, "each failed load is recorded")
        }

        private static func afterRestart(_ service: Service) throws {
            let client = service.client()
            #expect(try Self.isWarned(client))
            let answer = try client.post(
                "/v1/evaluations", Requests.evaluation("after the start"))
            #expect(answer.status == 201)
            #expect(answer["policy"]?["version"] == 3)
            #expect(answer["decision"]?["holdFor"] == "PT15M")
        }
    }
}

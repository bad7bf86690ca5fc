import Foundation
import JSON
import Testing

extension Scenarios {
    /// From a file to what acts and back, by the real program: with a server and without one.
    @Suite struct PolicyLifecycle {
        private static let name = "transcripts-payments"

        /// Makes the payments policy of a folder another version.
        private static func edit(_ service: Service, version: Int, _ change: (String) -> String)
            throws
        {
            let path = service.policies + "/\(name).yaml"
            let text = Files.text(path).replacing(
                #/(?m)^version: \d+/#, with: "version: \(version)")
            try Files.write(change(text), to: path)
        }

        private static func tests(_ service: Service, _ change: (String) -> String) throws {
            let path = service.policies + "/\(name)_test.yaml"
            try Files.write(change(Files.text(path)), to: path)
        }

        private static func judge(_ service: Service, key: String, _ ids: [String]) throws {
            let client = service.client(key: key)
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            for id in ids {
                let answer = try client.post("/v1/evaluations", Requests.evaluation(id))
                #expect(answer.status == 201, "\(answer.text)")
            }
        }

        /// A server as in production, with an app that has a key.
        private static func started() throws -> (service: Service, key: String) {
            let service = try Service.started([])
            let app = try service.command("apps", "create", "shop")
            #expect(app.status == 0, "\(app.errors)")
            let key = try service.command("keys", "create", "--app", "shop")
            return (service, key.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }

        @Test func aNewVersionIsTriedActsAndIsRolledBack() throws {
            let (service, key) = try Self.started()
            let reference = Self.name + "@4"
            func run(_ words: String...) throws -> Program.Outcome {
                try Program.run(["policies"] + words + ["--data", service.data])
            }
            // What is not loaded cannot act.
            let unknown = try run("activate", reference, "--reason", "x")
            #expect(unknown.status == 1 && unknown.errors.contains("notFound"))
            try Self.edit(service, version: 4) { $0 }
            let loaded = try run("reload")
            #expect(loaded.status == 0 && loaded.output == "added: \(reference)\n")
            // It never ran in shadow.
            let untried = try run("activate", reference, "--reason", "x")
            #expect(untried.status == 5)
            #expect(untried.errors.contains("noShadow") && untried.errors.contains("policyGuarded"))
            let nothing = try run("compare", "--app", "shop", "--environment", "sandbox")
            #expect(nothing.status == 5, "no evaluation at all")
            let trial = try run("activate", reference, "--shadow", "-m", "a trial")
            #expect(trial.status == 0, "\(trial.errors)")
            try Self.judge(service, key: key, ["a", "b", "c"])
            let compared = try run("compare", "--policy", reference, "-f", "json")
            #expect(compared.status == 0, "\(compared.errors)")
            let comparison = try JSONReader.parse(Array(compared.output.utf8))["comparisons"]?
                .arrayValue?.first
            #expect(comparison?["evaluations"] == 3)
            #expect(comparison?["friction"]?["increased"]?["increased"] == 3)
            #expect(comparison?["beside"]?[Self.name + "@3"] == 3)
            let acts = try run("activate", reference, "-m", "tried")
            #expect(acts.status == 0 && acts.output == "\(reference) acts for all apps\n")
            try Self.judge(service, key: key, ["d"])
            let listed = try run("list", "-f", "json")
            let acting = try JSONReader.parse(Array(listed.output.utf8))["acting"]?.arrayValue?
                .first { $0["category"] == "payment" }
            #expect(acting?["version"] == 4 && acting?["reason"] == "tried")
            let back = try run("rollback", Self.name, "-m", "too strict")
            #expect(back.status == 0 && back.output.contains("\(Self.name)@3"), "\(back.errors)")
            // Without a server: the same, by the folder's lock.
            #expect(try service.stop() == 0)
            let again = try run("activate", reference, "-m", "again", "-p", service.policies)
            #expect(again.status == 0, "\(again.errors)")
            let history = try run("history", Self.name, "-f", "json")
            let changes = try JSONReader.parse(Array(history.output.utf8))["changes"]?.arrayValue
            #expect(
                changes?.map { $0["change"]?.stringValue } == [
                    "activated", "rolledBack", "activated", "activated", "activated",
                ])
            #expect(changes?.first?["actor"] == "operator")
            #expect(changes?.first?["guards"]?["tests"]?["failed"] == 0)
            #expect(changes?.first?["guards"]?["judged"] == 4)
            #expect(changes?.last?["actor"] == "system")
            let audit = try service.command("audit", "list", "--kind", "rollback")
            #expect(audit.output.contains("\(Self.name): too strict"))
        }

        /// Where no server runs, `activate` runs the tests of the folder: a fault in it is told.
        @Test func aFaultOfTheFolderIsToldByActivate() throws {
            let (service, _) = try Self.started()
            #expect(try service.stop() == 0)
            try Self.edit(service, version: 4) { $0 }
            let folder = ["-p", service.policies, "--data", service.data]
            #expect(try Program.run(["policies", "reload"] + folder).status == 0)
            let activate = ["policies", "activate", Self.name + "@4", "-m", "x"]
            try Files.write("kind: trust\nname: broken\n", to: service.policies + "/broken.yaml")
            let refused = try Program.run(activate + folder)
            #expect(refused.status == 3)
            #expect(refused.errors.contains("broken.yaml:1:1: error: "), "\(refused.errors)")
            let empty = service.folder.path + "/empty"
            mkdir(empty, 0o700)
            let nothing = try Program.run(activate + ["-p", empty, "--data", service.data])
            #expect(nothing.status == 2)
            #expect(nothing.errors.contains("there are no policies in \(empty)"))
            // An override is never taken from the environment.
            unlink(service.policies + "/broken.yaml")
            let guarded = try Program.run(
                ["DISCERN_ALLOW=noShadow", Program.path] + activate + folder, of: "/usr/bin/env")
            #expect(guarded.status == 5 && guarded.errors.contains("noShadow"))
            // Nothing acts, so no test is asked for.
            try Files.write("kind: trust\nname: broken\n", to: service.policies + "/broken.yaml")
            let shadow = try Program.run(activate + ["--shadow"] + folder)
            #expect(shadow.status == 0, "\(shadow.errors)")
        }

        @Test func whatHasJudgedNothingYetIsSaid() throws {
            let (service, key) = try Self.started()
            try Self.judge(service, key: key, ["a"])
            try Self.edit(service, version: 4) { $0 }
            #expect(try service.command("policies", "reload").status == 0)
            let reference = Self.name + "@4"
            #expect(
                try service.command("policies", "activate", reference, "--shadow", "-m", "x").status
                    == 0)
            let all = try service.command("policies", "compare")
            #expect(all.status == 0, "the shadow rules of what acts are compared")
            #expect(all.errors.contains("\(reference) runs in shadow since "), "\(all.errors)")
            let one = try service.command("policies", "compare", "--policy", reference)
            #expect(one.status == 5)
            #expect(one.errors.contains("has judged nothing in the period yet"), "\(one.errors)")
            try Self.judge(service, key: key, ["b"])
            let judged = try service.command("policies", "compare")
            #expect(judged.status == 0 && !judged.errors.contains("nothing"), "\(judged.errors)")
        }

        @Test func anAppsOwnPolicyByTheCommandLine() throws {
            let (service, _) = try Self.started()
            let place = ["--app", "shop", "--environment", "sandbox", "-m", "for the shop"]
            func run(_ words: [String]) throws -> Program.Outcome {
                try Program.run(["policies"] + words + ["--data", service.data])
            }
            let reference = Self.name + "@3"
            let own = try run(["activate", reference, "--allow", "noShadow"] + place)
            #expect(own.status == 0, "\(own.errors)")
            #expect(own.output.contains("shop/sandbox") && own.output.contains("noShadow"))
            let away = try run(["deactivate", Self.name] + place)
            #expect(away.status == 0 && away.output.contains("taken away"), "\(away.errors)")
            #expect(try run(["deactivate", Self.name] + place).status == 1)
            let nobody = try run(
                ["activate", reference, "--app", "nobody", "-e", "sandbox", "-m", "x"])
            #expect(nobody.status == 1 && nobody.errors.contains("no such app"))
        }

        @Test(arguments: [
            ["activate", "a@1"], ["activate", "a", "-m", "x"], ["activate", "a@0", "-m", "x"],
            ["activate", "a@1", "-m", "x", "--allow", "everything"], ["activate", "-m", "x"],
            ["activate", "a/b@1", "-m", "x"], ["rollback", "a@1", "-m", "x"], ["rollback", "a"],
            ["deactivate", "a", "-m", ""], ["deactivate", "a", "-m", "x", "--app", "b"],
            ["deactivate", "a", "-m", "x", "--environment", "sandbox"], ["history", "a", "b"],
            ["list", "-f", "xml"], ["compare", "-f", "xml"],
        ])
        func wrongCommandLinesAreUsage(words: [String]) throws {
            let folder = try TemporaryFolder()
            _ = try Program.run(["apps", "create", "b", "--data", folder.path + "/data"])
            let run = try Program.run(["policies"] + words + ["--data", folder.path + "/data"])
            #expect(run.status == 2, "\(run.errors)")
        }

        // MARK: Guards

        struct GuardCase: Sendable {
            var name: String
            var change: @Sendable (Service) throws -> Void
            var guarding: String
            var status: Int32
        }

        private static let cases = [
            GuardCase(
                name: "no tests",
                change: { unlink($0.policies + "/\(name)_test.yaml") }, guarding: "untested",
                status: 5),
            GuardCase(
                name: "a failing test",
                change: { service in
                    try tests(service) {
                        $0.replacing("friction: increased", with: "friction: reduced")
                    }
                }, guarding: "failingTests", status: 4),
            GuardCase(
                name: "a rule that no test has seen",
                change: { service in
                    try edit(service, version: 4) {
                        $0.replacing(
                            "  match:\n",
                            with: """
                                  match:
                                    - id: never-seen
                                      condition: attributes.amount > 1000000.0
                                      output: {friction: increased, steps: [warn]}

                                """, maxReplacements: 1)
                    }
                }, guarding: "coverage", status: 5),
        ]

        @Test(arguments: cases.indices)
        func aPolicyIsRefusedUntilItsGuardIsNamed(index: Int) throws {
            let given = Self.cases[index]
            let (service, key) = try Self.started()
            try Self.edit(service, version: 4) { $0 }
            try given.change(service)
            let client = service.client(key: service.operatorKey)
            let reload = try client.post("/v1/policies/reload", .null)
            #expect(reload.status == 200, "\(given.name): \(reload.text)")
            let path = "/v1/policies/\(Self.name)/activate"
            let shadow: JSONValue = ["version": 4, "shadow": true, "reason": "a trial"]
            #expect(try client.post(path, shadow).status == 200)
            try Self.judge(service, key: key, ["a"])
            let body: JSONValue = ["version": 4, "reason": "now"]
            let refused = try client.post(path, body)
            #expect(refused.status == 409 && refused.code == "policyGuarded", "\(refused.text)")
            #expect(
                refused["guards"]?.arrayValue?.map { $0["guard"] } == [.string(given.guarding)],
                "\(given.name): \(refused.text)")
            let command = try service.command(
                "policies", "activate", "\(Self.name)@4", "-m", "now")
            #expect(command.status == given.status, "\(given.name): \(command.errors)")
            let other: JSONValue = ["version": 4, "reason": "now", "allow": ["noShadow"]]
            #expect(try client.post(path, other).code == "policyGuarded")
            let wrong: JSONValue = ["version": 4, "reason": "now", "allow": ["all"]]
            #expect(try client.post(path, wrong).code == "invalidValue")
            let allowed: JSONValue = [
                "version": 4, "reason": "now", "allow": [.string(given.guarding)],
            ]
            let acts = try client.post(path, allowed)
            #expect(acts.status == 200, "\(acts.text)")
            #expect(acts["guards"]?["overridden"] == [.string(given.guarding)])
            let entries = try client.get(
                "/v1/audit/entries?kind=activation&order=descending&limit=1")
            let payload = entries["entries"]?.arrayValue?.first?["payload"]
            #expect(payload?["result"]?["overridden"] == [.string(given.guarding)])
            #expect(payload?["command"]?["reason"] == "now")
        }

        @Test func appsChangeOnlyTheirOwn() throws {
            let (service, key) = try Self.started()
            let client = service.client(key: key)
            let path = "/v1/policies/\(Self.name)"
            let foreign: JSONValue = [
                "reason": "x", "version": 3, "app": "other", "environment": "sandbox",
            ]
            #expect(try client.post(path + "/activate", foreign).code == "operatorOnly")
            let production: JSONValue = ["reason": "x", "environment": "production"]
            #expect(try client.post(path + "/rollback", production).code == "operatorOnly")
            let own: JSONValue = ["reason": "x", "version": 3, "allow": ["noShadow"]]
            #expect(try client.post(path + "/activate", own).status == 200)
            let history = try client.get("/v1/policies/history?name=\(Self.name)&limit=1")
            #expect(history["changes"]?.arrayValue?.first?["app"] == "shop")
            let back = try client.post(path + "/rollback", ["reason": "x"])
            #expect(back.status == 200, "\(back.text)")
            #expect(back["changes"]?.arrayValue?.first?["to"] == nil)
            #expect(try client.post(path + "/deactivate", ["reason": "x"]).code == "notFound")
            let operators = service.client(key: service.operatorKey)
            #expect(
                try operators.post(path + "/rollback", ["reason": "x", "app": "shop"]).code
                    == "missingField")
            #expect(
                try operators.post(path + "/rollback", ["reason": "x", "environment": "sandbox"])
                    .code == "missingField")
        }

        /// In development everything in the folder acts, without guards.
        @Test func developmentAsksNoGuard() throws {
            let service = try Service.started()
            unlink(service.policies + "/\(Self.name)_test.yaml")
            try Self.edit(service, version: 9) { $0 }
            let reload = try service.client().post("/v1/policies/reload", .null)
            #expect(reload["activated"] == [.string("\(Self.name)@9")])
        }

        @Test func caseE40_E41_aBadFileChangesNothingAndIsTold() throws {
            let (service, _) = try Self.started()
            let path = service.policies + "/broken.yaml"
            for (text, part) in [
                ("kind: trust\nname: broken\n", "broken.yaml:"), ("", "broken.yaml:"),
                ("# nothing\n", "broken.yaml:"),
                (
                    Files.text(service.policies + "/\(Self.name).yaml"),
                    "loaded twice"
                ),
            ] {
                try Files.write(text, to: path)
                let reload = try service.command("policies", "reload")
                #expect(reload.status == 3, "\(text.prefix(20)): \(reload.errors)")
                #expect(reload.errors.contains(part), "\(reload.errors)")
                let ready = try service.client(key: "").get("/readyz")
                #expect(ready.status == 200)
                #expect(ready["warnings"]?.arrayValue?.count == 1, "\(ready.text)")
            }
            unlink(path)
            #expect(try service.command("policies", "reload").status == 0)
            #expect(
                try service.client(key: "").get("/readyz")["warnings"]?.arrayValue?.isEmpty == true)
        }
    }
}

import Foundation
import JSON
import Testing

extension Scenarios {
    /// Looking for entries with the real program: through a server, and on the folder.
    @Suite struct AuditQueries {
        static let high = #"kind == "evaluation" && outcome == "high" && attributes.amount > 500.0"#

        /// Two apps with an evaluation each, one of them high, and a formula for a name.
        static func served() throws -> Service {
            let service = try Service.started()
            let client = service.client()
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            #expect(try client.post("/v1/evaluations", Requests.evaluation("a")).status == 201)
            let low = Requests.evaluation("b", amount: 5, device: 0.01)
            #expect(try client.post("/v1/evaluations", low).status == 201)
            #expect(try service.command("apps", "create", "shop").status == 0)
            let key = try service.command("keys", "create", "--app", "shop", "--name", "=1+1,\"x\"")
            let shop = service.client(
                key: key.output.trimmingCharacters(in: .whitespacesAndNewlines))
            _ = try shop.put("/v1/authorizations", Requests.authorization("acct-1"))
            #expect(
                try shop.post("/v1/evaluations", Requests.evaluation("c", subject: "acct-1"))
                    .status == 201)
            return service
        }

        private static func escape(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }

        private static func requests(_ outcome: Program.Outcome) throws -> [String] {
            try outcome.lines.map { line in
                let entry = try JSONReader.parse(Array(line.utf8))
                return entry["payload"]?["command"]?["requestID"]?.stringValue ?? "?"
            }
        }

        @Test func theSameIsFoundThroughAServerAndOnTheFolder() throws {
            let service = try Self.served()
            var before: [String] = []
            for _ in 0..<2 {
                let found = try service.command("audit", "query", "-f", "json", Self.high)
                #expect(try Self.requests(found) == ["a", "c"], "\(found.errors)")
                let newest = try service.command(
                    "audit", "query", "-f", "json", "--newest", "--limit", "1", Self.high)
                #expect(try Self.requests(newest) == ["c"])
                let cursor = try #require(
                    newest.errors.firstMatch(of: /there is more: --cursor (\S+)/)?.1)
                let rest = try service.command(
                    "audit", "query", "-f", "json", "--newest", "--cursor", String(cursor),
                    Self.high)
                #expect(try Self.requests(rest) == ["a"])
                let ofApp = try service.command(
                    "audit", "query", "-f", "json", "--app", "shop", "--since", "today",
                    #"outcome == "high""#)
                #expect(try Self.requests(ofApp) == ["c"])
                #expect(ofApp.errors.contains("could not be decided"))
                let tail = try service.command(
                    "audit", "tail", "-n", "2", "--json", "kind == \"evaluation\"")
                #expect(try Self.requests(tail) == ["b", "c"])
                let stats = try service.command(
                    "audit", "stats", "-f", "json", "kind == \"evaluation\"")
                let counts = try JSONReader.parse(Array(stats.output.utf8))
                #expect(
                    counts["entries"] == 3 && counts["outcome"]?["high"] == 2, "\(stats.output)")
                #expect(counts["app"]?["shop"] == 1)
                let pretty = try service.command("audit", "stats")
                #expect(pretty.output.contains("evaluation"))
                let all = [
                    found.output, rest.output, tail.output, stats.output,
                    try service.command("audit", "export").output,
                    try service.command("audit", "export", "-f", "csv").output,
                    try service.command("audit", "get", "3").output,
                    try service.command("audit", "get", "3", "-f", "json").output,
                ]
                #expect(before.isEmpty || before == all)
                before = all
                if service.isRunning { #expect(try service.stop() == 0) }
            }
            #expect(before.allSatisfy { !$0.isEmpty })
        }

        @Test func tablesAreSafeForSpreadsheets() throws {
            let service = try Self.served()
            let csv = try service.command(
                "audit", "export", "-f", "csv", "kind in [\"key\", \"evaluation\"]")
            let rows = csv.output.components(separatedBy: "\r\n")
            #expect(rows.last == "")
            let names = rows[0].components(separatedBy: ",")
            #expect(names.prefix(4) == ["sequence", "at", "kind", "app"])
            #expect(csv.errors.contains("entries"))
            let evaluation = try #require(rows.first { $0.contains(",evaluation,shop,") })
            #expect(
                evaluation.contains(#""{""amount"":900.0,""currency"":""EUR"",""newPayee"":true}""#)
            )
            // Python's own reader agrees about the cells.
            let script = """
                import csv, sys
                rows = list(csv.reader(open(sys.argv[1], newline=''), strict=True))
                assert all(len(row) == len(rows[0]) for row in rows), rows
                print(len(rows))
                """
            let path = service.folder.path + "/table.csv"
            try Files.write(csv.output, to: path)
            let count = try Program.run(["-c", script, path], of: "/usr/bin/python3")
            #expect(count.output == "\(rows.count - 1)\n", "\(count.errors)")
        }

        @Test func followingShowsWhatComes() throws {
            let service = try Self.served()
            let path = service.folder.path + "/tail"
            let tail = try Spawned(
                ["audit", "tail", "-f", "-n", "1", "--json", "--data", service.data, Self.high],
                output: path, errors: path + "-err")
            func lines() -> Int { Files.text(path).split(separator: "\n").count }
            try #require(
                Wait.until { lines() == 1 ? true : nil } == true, "\(Files.text(path + "-err"))")
            let low = Requests.evaluation("d", amount: 5, device: 0.01)
            #expect(try service.client().post("/v1/evaluations", low).status == 201)
            #expect(
                try service.client().post("/v1/evaluations", Requests.evaluation("e")).status == 201
            )
            #expect(Wait.until { lines() == 2 ? true : nil } == true)
            #expect(Files.text(path).contains("\"requestID\":\"e\""))
            #expect(tail.poll() == nil)
            tail.signal(SIGINT)
            _ = try tail.waitForExit()
        }

        @Test func thePlanIsTold() throws {
            let service = try Self.served()
            let filter =
                #"kind == "evaluation" && outcome == "high" && sequence > 2 && actor != "x""#
            let plan = try service.command("audit", "query", "--explain", filter)
            #expect(plan.status == 0, "\(plan.errors)")
            for part in [
                "kind: \"evaluation\"", "3 to ", "by bounds alone  sequence > 2",
                "evaluated        outcome == \"high\"", "reads            actor, outcome",
                "payloads         read", "the rows of the range", "first page       2 found, ",
            ] { #expect(plan.output.contains(part), "\(part): \(plan.output)") }
            let rare = try service.command("audit", "query", "--explain", #"kind == "key""#)
            #expect(rare.output.contains("service_entries"))
            #expect(rare.output.contains("not read"))
        }

        @Test func badFiltersNameTheirPlace() throws {
            let service = try Self.served()
            let client = service.client()
            let cases: [(filter: String, column: Int64, help: String)] = [
                ("kind == \"evaluation\" && outcme == \"high\"", 25, "did you mean `outcome`?"),
                ("kind == \"evalution\"", 9, "did you mean `evaluation`?"),
            ]
            for (filter, column, help) in cases {
                let answer = try client.get("/v1/audit/entries?filter=" + Self.escape(filter))
                #expect(answer.status == 422)
                #expect(answer.string("field") == "filter")
                let finding = answer.json["findings"]?.arrayValue?.first
                #expect(finding?["line"] == 1)
                #expect(finding?["column"]?.intValue == column)
                #expect(finding?["help"]?.stringValue == help)
                let run = try service.command("audit", "query", filter)
                #expect(run.status == 2)
                #expect(run.errors.contains("filter:1:\(column): error: "), "\(run.errors)")
                #expect(run.errors.contains("^"))
            }
            for path in ["filter=", "cursor=x", "cursor=0", "cursor=1-x"] {
                #expect(try client.get("/v1/audit/entries?" + path).status == 422, "\(path)")
            }
        }

        /// Whatever a filter says, a key sees its own app and environment.
        @Test func aKeySeesItsOwnOnly() throws {
            let service = try Self.served()
            let client = service.client()
            for filter in [
                "true", #"app == "shop""#, #"app != "dev""#, "true || app == \"shop\"", "!erased",
            ] {
                let answer = try client.get(
                    "/v1/audit/entries?limit=1000&filter=" + Self.escape(filter))
                #expect(answer.status == 200)
                let apps = (answer.json["entries"]?.arrayValue ?? []).compactMap {
                    $0["envelope"]?["app"]?.stringValue
                }
                #expect(apps.allSatisfy { $0 == "dev" }, "\(filter)")
                if filter == "true" { #expect(apps.count == 3) }
            }
            let operators = try service.client(key: service.operatorKey).get(
                "/v1/audit/entries?filter=" + Self.escape(#"app == "shop" && kind == "evaluation""#)
            )
            #expect(operators.json["entries"]?.arrayValue?.count == 1)
            #expect(operators.json["undecided"] == 0)
        }

        @Test func whatCannotBeAskedIsRefused() throws {
            let service = try Self.served()
            let cases: [([String], String)] = [
                (["query", "true", "true"], "in quotes"),
                (["query", "--since", "soon"], "--since"),
                (["query", "--between", "today"], "A..B"),
                (["query", "--between", "today..yesterday"], "the first is the later"),
                (["query", "--between", "2d..1d", "--since", "1d"], "excludes"),
                (["query", "--cursor", "x"], "--cursor"),
                (["query", "-f", "csv"], "pretty or json"),
                (["export", "-f", "json"], "ndjson or csv"), (["get"], "the number"),
                (["get", "0"], "the number"), (["get", "x"], "the number"),
                (["stats", "kind"], "true or false"), (["tail", "-n", "-1"], "--lines"),
            ]
            for (words, says) in cases {
                let run = try Program.run(["audit"] + words + ["--data", service.data])
                #expect(run.status == 2, "\(words)")
                #expect(run.errors.contains(says), "\(words): \(run.errors)")
            }
            let none = try service.command("audit", "get", "99999")
            #expect(none.status == 1 && none.errors.contains("there is no entry 99999"))
            let folder = try Program.run([
                "audit", "stats", "--data", service.folder.path + "/none",
            ])
            #expect(folder.status == 1)
        }
    }
}

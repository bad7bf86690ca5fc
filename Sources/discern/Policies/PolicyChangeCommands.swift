import Engine
import Glibc
import JSON
import Policies

/// `discern policies activate | deactivate | rollback | reload`: what acts, and who says so.
enum PolicyChangeCommands {
    private static let scope: [Option] = [
        .value("reason", "m", "TEXT", "why; it is recorded (required)"),
        .value("app", "a", "APP", "only for this app; for all if left out"),
        .value("environment", "e", "ENV", "sandbox or production; with --app"),
    ]
    private static let folder = Option.value(
        "policies", "p", "DIR", "the policy files (Policies), where no server runs")

    static var activate: Command {
        Command(
            name: "policies activate", summary: "Let a version of a policy act.",
            positional: "NAME@VERSION",
            options: scope + [
                .flag("shadow", nil, "only run it beside the acting one"),
                .value(
                    "allow", nil, "GUARD", "override a guard, by name; may be repeated",
                    isFromEnvironment: false),
                folder, DataAccess.option,
            ],
            discussion: """
                The way of a new version: put it into the folder with its tests, `discern policies
                reload`, `activate NAME@VERSION --shadow`, look at `discern policies compare` after
                a while, then activate it.

                Guards refuse to let it act:
                  untested      no test of it was loaded with the policy files
                  failingTests  a test of it fails
                  coverage      its tests cover less than the configuration asks for
                  noShadow      it has judged too few recorded events here, in shadow or acting
                Each can be overridden by its name (--allow noShadow), which the ledger records.
                The tests are those that the running server loaded with the folder, or, where none
                runs, those in --policies. --shadow asks no guard, since nothing acts.
                What acts already is said to do so, and nothing is recorded.
                Where no server runs, a file of --policies that is invalid is told and nothing is
                changed, unless --shadow or --allow untested asks for no tests.
                --allow is the one option that is not taken from the environment: nobody overrides
                a guard without having said so.
                Exit status: 0 it acts, 1 there is no such version, 2 usage, 3 a policy file is
                invalid, 4 a test of it fails, 5 another guard refuses.
                """,
            run: activate)
    }

    private static func activate(_ arguments: Arguments) throws -> Int32 {
        let (name, version) = try PolicyName.reference(arguments)
        let change = try ActingChangeRequest(arguments)
        try refuseFolder(arguments)
        let allow = try arguments.all("allow").flatMap { $0.split(separator: ",") }.map { text in
            guard let name = PolicyGuard(rawValue: String(text)) else {
                throw UsageError(
                    "`\(text)` is no guard; there are \(PolicyGuard.names.joined(separator: ", "))")
            }
            return name
        }
        let isShadow = arguments.has("shadow")
        var body = change.body
        body["version"] = .int(version)
        if isShadow { body["shadow"] = true }
        if !allow.isEmpty { body["allow"] = .array(allow.map { .string($0.rawValue) }) }
        let acting = try PolicyListCommands.policies(arguments)
        if let since = change.already(name, version, isShadow: isShadow, in: acting) {
            Terminal.print(
                prose:
                    "\(name)@\(version) already \(isShadow ? "runs in shadow" : "acts") since \(since) "
                    + "for \(change.place); nothing was recorded")
            return ExitStatus.fine
        }
        let needsTests = !isShadow && !allow.contains(.untested)
        do {
            return try change.run(
                arguments, path: "\(name)/activate", .object(body), of: "\(name)@\(version)",
                command: { engine in
                    let reference = "\(name)@\(version)"
                    let candidate = engine.directory.catalog.policy(named: reference)
                    return .activate(
                        ActivateCommand(
                            reference: reference, isShadow: isShadow, reason: change.reason,
                            allow: allow,
                            tests: try candidate.flatMap {
                                try tests(of: $0.reference, arguments, isNeeded: needsTests)
                            }))
                },
                told: { answer in
                    let overridden = PolicyListCommands.names(answer["guards"]?["overridden"])
                    return "\(name)@\(version) "
                        + (isShadow ? "runs in shadow" : "acts") + " for \(change.place)"
                        + (overridden.isEmpty ? "" : ", in spite of \(overridden)")
                })
        } catch let invalid as InvalidFolder {
            Terminal.say(invalid.report)
            return ExitStatus.invalidPolicies
        }
    }

    /// The folder whose tests were to be run has a file with an error.
    private struct InvalidFolder: Error { var report: String }

    /// Runs the tests of a policy in the folder. Bad files have none: that is told, unless the
    /// activation does not ask for tests.
    private static func tests(
        of policy: VersionReference, _ arguments: Arguments, isNeeded: Bool
    ) throws -> TestEvidence? {
        let zones = SystemZones.load()
        let path = arguments["policies"] ?? "Policies"
        let found = try PolicyFiles.read([path]).get()
        guard !isNeeded || !found.files.isEmpty else {
            throw UsageError(PolicyFiles.nothing(in: [path]))
        }
        let load = PolicyLoader(zones: zones).load(found.files)
        guard !isNeeded || load.set != nil else {
            throw InvalidFolder(
                report: load.rendered(columns: Terminal.columns(of: STDERR_FILENO)))
        }
        return TestEvidence(of: policy, in: load, zones: zones)
    }

    static var deactivate: Command {
        Command(
            name: "policies deactivate", summary: "Take a policy away from where it acts.",
            positional: "NAME[@VERSION]",
            options: scope + [.flag("shadow", nil, "take it out of shadow"), DataAccess.option],
            discussion: """
                An app whose own policy is taken away follows the common one again. Where no policy
                acts for a category, its evaluations are refused (contextInvalid, noPolicy): to go
                back to an older version, use `discern policies rollback`.
                """
        ) { arguments in
            let policy = try PolicyName.only(arguments)
            let parts = policy.split(separator: "@")
            let change = try ActingChangeRequest(arguments)
            var body = change.body
            if parts.count > 1 { body["version"] = .int(try PolicyName.reference(arguments).1) }
            if arguments.has("shadow") { body["shadow"] = true }
            let isShadow = arguments.has("shadow")
            return try change.run(
                arguments, path: "\(parts[0])/deactivate", .object(body), of: policy,
                command: { _ in
                    .deactivate(policy: policy, isShadow: isShadow, reason: change.reason)
                },
                told: { changes($0, change.place, isShadow ? "out of shadow" : "taken away") })
        }
    }

    static var rollBack: Command {
        Command(
            name: "policies rollback", summary: "Let what acted before act again.",
            positional: "NAME", options: scope + [DataAccess.option],
            discussion: """
                Undoes the latest activation of the policy, wherever that still acts; once more
                undoes the one before. No guard is asked: what acted before was let act before.
                An app without anything of its own before follows the common policy again.
                """
        ) { arguments in
            let name = try PolicyName.only(arguments)
            guard !name.contains("@") else {
                throw UsageError("the version follows from the history: name the policy alone")
            }
            let change = try ActingChangeRequest(arguments)
            return try change.run(
                arguments, path: "\(name)/rollback", .object(change.body), of: name,
                command: { _ in .rollBack(policy: name, reason: change.reason) },
                told: { changes($0, change.place, "back to the common one") })
        }
    }

    private static func changes(_ answer: JSONValue, _ place: String, _ gone: String) -> String {
        (answer["changes"]?.arrayValue ?? []).map { row in
            let category = row["category"]?.stringValue ?? ""
            let from = row["from"].map(PolicyListCommands.reference) ?? ""
            let to = row["to"].map { "replaced by " + PolicyListCommands.reference($0) } ?? gone
            return "\(category): \(from) \(to) for \(place)"
        }.joined(separator: "\n")
    }

    static var reload: Command {
        Command(
            name: "policies reload", summary: "Read the policy files again: all or nothing.",
            options: [folder, DataAccess.option],
            discussion: """
                New versions become candidates; what acts stays as it is, except on a server for
                development (serve --dev) and where nothing has acted yet.
                Exit status: 0 loaded, 3 a file is invalid: what was there before goes on acting.
                """,
            run: reload)
    }

    /// A running server reads the folder that it was started with.
    private static func refuseFolder(_ arguments: Arguments) throws {
        guard arguments.isGiven("policies"),
            try RunningServer.find(data: DataAccess.folder(arguments)) != nil
        else { return }
        throw UsageError(
            "--policies is for where no server runs: one runs on \(DataAccess.folder(arguments)) "
                + "and reads the folder it was started with")
    }

    private static func reload(_ arguments: Arguments) throws -> Int32 {
        try refuseFolder(arguments)
        do {
            let (added, activated) = try DataAccess.change(
                arguments,
                server: { client in
                    let answer = try client.post("/v1/policies/reload", .null)
                    return (
                        PolicyListCommands.names(answer["added"]),
                        PolicyListCommands.names(answer["activated"])
                    )
                },
                engine: { engine in
                    let found = PolicyFolder(
                        path: arguments["policies"] ?? "Policies", zones: engine.zones,
                        activates: false
                    ).load()
                    if !found.report.isEmpty { Terminal.say(found.report) }
                    let answer = try DataAccess.administer(engine, .loadPolicies(found.load))
                    guard case .loaded(let added, let activated) = answer else { return ("", "") }
                    return (added.joined(separator: ", "), activated.joined(separator: ", "))
                })
            Terminal.print(prose: "added: \(added.isEmpty ? "nothing" : added)")
            if !activated.isEmpty { Terminal.print(prose: "acting: \(activated)") }
            return ExitStatus.fine
        } catch let failure as ServerClient.Failure where failure.isAboutPolicies {
            Terminal.say(failure.description)
            return ExitStatus.invalidPolicies
        } catch let refused as CommandRefused where refused.isAboutPolicies {
            Terminal.say(refused.description)
            return ExitStatus.invalidPolicies
        }
    }
}

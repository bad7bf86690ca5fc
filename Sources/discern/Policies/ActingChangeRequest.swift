import Engine
import Glibc
import JSON

/// A change of what acts: for whom, and why.
struct ActingChangeRequest {
    var reason: String
    var tenant: Tenant?

    init(_ arguments: Arguments) throws {
        guard let reason = arguments["reason"], reason.contains(where: { !$0.isWhitespace }) else {
            throw UsageError("--reason is needed: it is recorded with the change")
        }
        guard reason.utf8.count <= 500 else { throw UsageError("--reason: at most 500 bytes") }
        self.reason = reason
        guard let app = arguments["app"] else {
            guard arguments["environment"] == nil else {
                throw UsageError("--environment is one of an app: name it with --app")
            }
            return
        }
        guard let environment = arguments["environment"].flatMap(DataEnvironment.init(rawValue:))
        else { throw UsageError("--app needs --environment sandbox or production") }
        tenant = Tenant(app: app, environment: environment)
    }

    var place: String {
        tenant.map { "\($0.app)/\($0.environment.rawValue)" } ?? "all apps"
    }

    var body: JSONObject {
        var body: JSONObject = ["reason": .string(reason)]
        body["app"] = tenant.map { .string($0.app) }
        body["environment"] = tenant.map { .string($0.environment.rawValue) }
        return body
    }

    /// Makes the change and tells of it; the status says which guard refused.
    func run(
        _ arguments: Arguments, path: String, _ body: JSONValue, of policy: String,
        command: (Engine) throws -> AdministrationCommand, told: (JSONValue) -> String
    ) throws -> Int32 {
        do {
            let answer = try DataAccess.change(
                arguments, server: { try $0.post("/v1/policies/" + path, body) },
                engine: { engine in
                    if let app = tenant?.app, engine.directory.registry.apps[app] == nil {
                        throw CommandRefused(
                            refusal: Refusal(
                                .notFound, "There is no such app.", field: "/app",
                                value: .string(app)))
                    }
                    return try DataAccess.administer(engine, try command(engine), for: tenant)
                        .policyAnswer
                })
            Terminal.print(prose: told(answer))
            return ExitStatus.fine
        } catch let failure as ServerClient.Failure {
            guard let guards = failure.guards?.arrayValue else { throw failure }
            return refused(policy, guards)
        } catch let refused as CommandRefused {
            guard let guards = refused.guards?.arrayValue else { throw refused }
            return self.refused(policy, guards)
        }
    }

    /// A line for each guard that refuses, with what would override it.
    private func refused(_ policy: String, _ guards: [JSONValue]) -> Int32 {
        let rows = guards.map { row in
            let name = row["guard"]?.stringValue ?? "?"
            return [name, "\(row["detail"]?.stringValue ?? "") (--allow=\(name))"]
        }
        let columns = Terminal.columns(of: STDERR_FILENO) ?? Int.max
        Terminal.say(
            "discern policies activate: \(policy) does not act: "
                + (guards.count == 1
                    ? "a guard refuses" : "\(guards.count) guards refuse") + " [policyGuarded]\n"
                + Layout.table(rows, columns: columns).joined(separator: "\n"))
        return rows.contains { $0[0] == PolicyGuard.failingTests.rawValue }
            ? ExitStatus.testsFailed : ExitStatus.nothingTested
    }

    /// Since when a version acts in all places that activating it would let it act in; nil if
    /// there is one where it does not.
    func already(_ name: String, _ version: Int64, isShadow: Bool, in answer: JSONValue) -> String?
    {
        func isIt(_ row: JSONValue) -> Bool {
            row["name"]?.stringValue == name && row["version"]?.intValue == version
        }
        guard let candidate = answer["candidates"]?.arrayValue?.first(where: isIt) else {
            return nil
        }
        let rows = (answer["acting"]?.arrayValue ?? []).filter { row in
            isIt(row) && (row["shadow"] == true) == isShadow
                && row["app"]?.stringValue == tenant?.app
                && row["environment"]?.stringValue == tenant?.environment.rawValue
        }
        let wanted = candidate["categories"]?.arrayValue ?? ["reviewPrompt"]
        guard wanted.allSatisfy({ category in rows.contains { $0["category"] == category } })
        else { return nil }
        return rows.compactMap { $0["since"]?.stringValue }.max()
    }
}

extension AdministrationAnswer {
    /// What the server would have answered.
    fileprivate var policyAnswer: JSONValue {
        switch self {
        case .activated(let record): record.answer
        case .deactivated(let record): record.answer
        case .rolledBack(let record): record.answer
        case .done, .loaded: .null
        }
    }
}

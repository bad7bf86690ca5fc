import Engine
import JSON

/// `discern keys create | list | revoke`: who may call.
enum KeysCommand {
    static var create: Command {
        Command(
            name: "keys create", summary: "Issue a key and print it, this once.",
            options: [
                .value("app", "a", "APP", "the app it belongs to"),
                .flag("operator", nil, "a key of the operator, who belongs to no app"),
                .value("environment", "e", "ENV", "sandbox (default) or production"),
                .value(
                    "scopes", "s", "LIST",
                    "of \(Scope.names.joined(separator: ",")); all if left out"),
                .value("name", "n", "NAME", "a note for people"), DataAccess.option,
            ],
            discussion: "Only a hash of the key is stored: whoever loses it needs a new one.",
            run: create)
    }

    private static func create(_ arguments: Arguments) throws -> Int32 {
        let scopes = try Self.scopes(arguments["scopes"])
        let environment = arguments["environment"] ?? "sandbox"
        guard let data = DataEnvironment(rawValue: environment) else {
            throw UsageError("--environment is sandbox or production, not `\(environment)`")
        }
        if arguments.has("operator") == (arguments["app"] != nil) {
            throw UsageError("a key is of one app (--app APP) or of the operator (--operator)")
        }
        if arguments.has("operator"), arguments["environment"] != nil {
            throw UsageError("an operator's key belongs to no environment")
        }
        let tenant = arguments["app"].map { Tenant(app: $0, environment: data) }
        let name = arguments["name"] ?? ""
        let secret = try DataAccess.change(
            arguments, creates: true,
            server: { client -> String in
                var body: JSONObject = ["scopes": .array(scopes.map { .string($0.rawValue) })]
                if let tenant {
                    body["app"] = .string(tenant.app)
                    body["environment"] = .string(environment)
                }
                if !name.isEmpty { body["name"] = .string(name) }
                return try client.post("/v1/keys", .object(body))["key"]?.stringValue ?? ""
            },
            engine: { engine -> String in
                let (record, secret) = KeyRecord.issue(tenant: tenant, scopes: scopes, name: name)
                try DataAccess.administer(engine, .issueKey(record))
                return secret
            })
        Terminal.print(secret)
        if Terminal.outputFailure != nil {
            Terminal.say("the key was issued all the same, and its text is lost: revoke it")
        }
        return ExitStatus.fine
    }

    private static func scopes(_ text: String?) throws -> [Scope] {
        guard let text else { return Scope.allCases }
        return try text.split(separator: ",").map { name in
            guard let scope = Scope(rawValue: String(name)) else {
                throw UsageError(
                    "`\(name)` is no scope; there are \(Scope.names.joined(separator: ", "))")
            }
            return scope
        }
    }

    static var list: Command {
        Command(
            name: "keys list", summary: "List the keys that are good.",
            options: [DataAccess.option]
        ) { arguments in
            let lines = try DataAccess.read(
                arguments,
                server: { client -> [String] in
                    (try client.get("/v1/keys")["keys"]?.arrayValue ?? []).map { key in
                        line(
                            key["keyID"]?.stringValue ?? "", key["app"]?.stringValue,
                            key["environment"]?.stringValue,
                            (key["scopes"]?.arrayValue ?? []).compactMap(\.stringValue),
                            key["name"]?.stringValue ?? "")
                    }
                },
                engine: { engine -> [String] in
                    engine.directory.registry.keys.values.sorted { $0.keyID < $1.keyID }.map {
                        line(
                            $0.keyID, $0.tenant?.app, $0.tenant?.environment.rawValue,
                            $0.scopes.map(\.rawValue), $0.name)
                    }
                })
            for line in lines { Terminal.print(line) }
            return ExitStatus.fine
        }
    }

    private static func line(
        _ id: String, _ app: String?, _ environment: String?, _ scopes: [String], _ name: String
    ) -> String {
        let owner = app.map { "\($0)/\(environment ?? "")" } ?? "operator"
        return "\(id)  \(owner)  \(scopes.joined(separator: ","))"
            + (name.isEmpty ? "" : "  \(name)")
    }

    static var revoke: Command {
        Command(
            name: "keys revoke", summary: "Revoke a key, by its id.", positional: "KEY-ID",
            options: [DataAccess.option]
        ) { arguments in
            guard arguments.positional.count == 1 else { throw UsageError("name one key's id") }
            let id = arguments.positional[0]
            guard id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else {
                throw UsageError("`\(id)` is no key's id")
            }
            try DataAccess.change(
                arguments,
                server: { _ = try $0.post("/v1/keys/\(id)/revoke", .null) },
                engine: { try DataAccess.administer($0, .revokeKey(id: id)) })
            Terminal.print("revoked \(id)")
            return ExitStatus.fine
        }
    }
}

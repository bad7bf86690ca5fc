import Engine
import JSON

/// `discern apps create | list`: registered callers.
enum AppsCommand {
    static var create: Command {
        Command(
            name: "apps create", summary: "Register an app.", positional: "APP",
            options: [.value("name", "n", "NAME", "its name for people"), DataAccess.option],
            discussion: "Then `discern keys create --app APP …` gives it a key."
        ) { arguments in
            guard arguments.positional.count == 1 else { throw UsageError("name one app") }
            let id = arguments.positional[0]
            let name = arguments["name"] ?? id
            try DataAccess.change(
                arguments, creates: true,
                server: { client in
                    _ = try client.post(
                        "/v1/apps", ["app": .string(id), "name": .string(name)])
                },
                engine: { try DataAccess.administer($0, .registerApp(id: id, name: name)) })
            Terminal.print("registered \(id)")
            return ExitStatus.fine
        }
    }

    static var list: Command {
        Command(
            name: "apps list", summary: "List the registered apps.", options: [DataAccess.option]
        ) { arguments in
            let apps = try DataAccess.read(
                arguments,
                server: { client in
                    (try client.get("/v1/apps")["apps"]?.arrayValue ?? []).map {
                        ($0["app"]?.stringValue ?? "", $0["name"]?.stringValue ?? "")
                    }
                },
                engine: { engine in
                    engine.directory.registry.apps.sorted { $0.key < $1.key }
                        .map { ($0.key, $0.value) }
                })
            for (id, name) in apps { Terminal.print(id == name ? id : "\(id)  \(name)") }
            return ExitStatus.fine
        }
    }
}

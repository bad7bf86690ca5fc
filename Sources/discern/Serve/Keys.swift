import Engine
import Glibc
import JSON
import Ledger
import Storage

/// The operator's key, in a file of the data folder that only its owner can read. It is what
/// the command line uses to talk to a running server.
enum OperatorKey {
    static func ensure(_ engine: Engine, folder: DataFolder) throws -> String {
        try SecretFile.ensure(folder.path + "/operator.key", engine) {
            KeyRecord.issue(
                tenant: nil, scopes: Scope.allCases, name: "the data folder's operator key")
        }
    }
}

/// The app and the key that `serve --dev` makes: the same key at every start.
enum DevelopmentKey {
    static let tenant = Tenant(app: "dev", environment: .sandbox)

    static func ensure(_ engine: Engine, _ folder: DataFolder) throws -> String {
        if engine.directory.registry.apps[tenant.app] == nil {
            try Running.administer(
                engine, .registerApp(id: tenant.app, name: "Development"))
        }
        return try SecretFile.ensure(folder.path + "/dev.key", engine) {
            KeyRecord.issue(tenant: tenant, scopes: Scope.allCases, name: "development")
        }
    }
}

/// A key whose text is kept in a file.
private enum SecretFile {
    /// The key of the file, if the engine knows it; else a new one, in the file and in the engine.
    static func ensure(
        _ path: String, _ engine: Engine, _ issue: () -> (record: KeyRecord, secret: String)
    ) throws -> String {
        if access(path, F_OK) == 0 {
            let secret = try File.read(path).filter { !$0.isWhitespace }
            if engine.directory.registry.keys[SHA256.hash(secret)] != nil { return secret }
        }
        let (record, secret) = issue()
        try Running.administer(engine, .issueKey(record))
        try File.write(secret + "\n", to: path)
        return secret
    }
}

/// Where a server runs, for the command line: `server.json` in the data folder.
struct RunningServer {
    var address: String
    var operatorKey: String

    private static func path(_ folder: String) -> String { folder + "/server.json" }

    func write(to folder: DataFolder) throws {
        let json: JSONValue = ["address": .string(address), "pid": .int(Int64(getpid()))]
        try File.write(json.text + "\n", to: Self.path(folder.path))
    }

    static func remove(from folder: DataFolder) { unlink(path(folder.path)) }

    /// The server that runs on a data folder; `nil` if none does.
    static func find(data: String) throws -> RunningServer? {
        guard DataFolder.isLocked(path: data) else { return nil }
        // A server that is starting, or another command.
        guard access(path(data), F_OK) == 0 else { throw StorageError.locked(path: data) }
        let text = try File.read(path(data))
        guard let json = try? JSONReader.parse(Array(text.utf8)),
            let address = json["address"]?.stringValue,
            let pid = json["pid"]?.intValue.flatMap({ pid_t(exactly: $0) }), pid > 0
        else {
            throw StorageError.file(
                path: path(data), doing: "reading", error: "it does not name an address and a pid")
        }
        // A killed server leaves the file behind. Its port may be somebody else's by now, who
        // must not be sent the operator's key.
        guard kill(pid, 0) == 0 || errno == EPERM else { throw StorageError.locked(path: data) }
        let key = try File.read(data + "/operator.key").filter { !$0.isWhitespace }
        return RunningServer(address: address, operatorKey: key)
    }
}

import Engine
import JSON
import Storage
import Time

/// A data folder as a command uses it: through the server that runs on it, or, where none
/// does, by holding its lock. There is never a second writer.
enum DataAccess {
    static let option = Option.value("data", "d", "DIR", "the data folder (discern-data)")

    static func folder(_ arguments: Arguments) -> String { arguments["data"] ?? "discern-data" }

    /// Refuses a folder without a database: a command that only reads makes none, so that a
    /// mistyped name is told.
    static func requireDatabase(_ arguments: Arguments) throws {
        let path = folder(arguments)
        guard LedgerFile.exists(in: path) else {
            throw StorageError.file(
                path: path, doing: "opening",
                error: "there is no database of discern (name the folder with --data)")
        }
    }

    /// Reads by the one or the other. Where no server runs, nothing is locked and nothing written,
    /// so whoever has the lock (a server that is starting, another command) is not waited for.
    static func read<R>(
        _ arguments: Arguments, server: (ServerClient) throws -> R, engine: (Engine) throws -> R
    ) throws -> R {
        try requireDatabase(arguments)
        let path = folder(arguments)
        do {
            if let running = try RunningServer.find(data: path) {
                return try server(ServerClient(server: running))
            }
        } catch StorageError.locked {}
        return try use(LateStore(reading: path), engine)
    }

    /// Changes something by the one or the other; a refused change leaves the database as it is.
    /// With `creates`, a folder that is not there is made.
    static func change<R>(
        _ arguments: Arguments, creates: Bool = false, server: (ServerClient) throws -> R,
        engine: (Engine) throws -> R
    ) throws -> R {
        if !creates { try requireDatabase(arguments) }
        let path = folder(arguments)
        if let running = try RunningServer.find(data: path) {
            return try server(ServerClient(server: running))
        }
        return try use(LateStore(folder: DataFolder(path: path), creates: creates), engine)
    }

    private static func use<R>(_ store: LateStore, _ engine: (Engine) throws -> R) throws -> R {
        defer { store.close() }
        // Recorded policies may name zones, and the engine compiles them all.
        let opened = try Engine(store: store, zones: SystemZones.load())
        defer { opened.stop() }
        return try engine(opened)
    }

    /// Performs an administrative command of the operator.
    @discardableResult
    static func administer(
        _ engine: Engine, _ command: AdministrationCommand, for tenant: Tenant? = nil
    ) throws -> AdministrationAnswer {
        let reply = engine.perform(
            Submission(tenant: tenant, actor: "operator", command: .administer(command)))
        switch reply.content {
        case .refused(let refusal): throw CommandRefused(refusal: refusal, cause: engine.failure)
        case .administered(let answer): return answer
        default: return .done
        }
    }
}

/// The engine refused a command.
struct CommandRefused: Error, CustomStringConvertible {
    var refusal: Refusal
    /// Why nothing could be stored, if that was the reason.
    var cause: String?

    /// Whether policy files are at fault.
    var isAboutPolicies: Bool {
        cause == nil && [.policyInvalid, .policyConflict].contains(refusal.code)
    }

    /// The guards that refused, and why.
    var guards: JSONValue? { refusal.members["guards"] }

    var description: String {
        if let cause { return "storing failed: \(cause)" }
        return RefusalText.text(
            refusal.detail, field: refusal.field, value: refusal.value, allowed: refusal.allowed,
            code: refusal.code.rawValue)
    }
}

/// A refusal as people read it, whether the engine or a server gave it.
enum RefusalText {
    /// What is wrong, of which field, with which value, and what there is instead.
    static func text(
        _ detail: String, field: String?, value: JSONValue?, allowed: [JSONValue], code: String
    ) -> String {
        // Where something is not there, its name says more than the field that named it.
        let isMissing = code == "notFound"
        var text = isMissing ? "" : field.map { "\(name($0)): " } ?? ""
        text += detail.hasSuffix(".") ? String(detail.dropLast()) : detail
        if isMissing, let value { text += ": `\(plain(value))`" }
        let names = allowed.prefix(20).map(plain).joined(separator: ", ")
        if !names.isEmpty {
            text += (isMissing ? "; there are " : "; allowed are ") + names
            if allowed.count > 20 { text += " and \(allowed.count - 20) more" }
        }
        return text + " [\(code)]"
    }

    /// `/attributes/amount` as people write it: `attributes.amount`.
    private static func name(_ pointer: String) -> String {
        pointer.split(separator: "/").joined(separator: ".")
    }

    private static func plain(_ value: JSONValue) -> String { value.stringValue ?? value.text }
}

import Engine
import Glibc
import JSON
import Ledger
import Policies
import Server
import Storage
import Synchronization
import Time

/// No policy acts, and those of the folder are invalid: there is nothing to serve.
struct PoliciesRefused: Error {
    var report: String
}

/// The policy folder with what was last read of it in good order. Tests are no part of the
/// ledger: those that are run before a policy may act are the ones that were loaded with it.
final class PolicyShelf: Sendable {
    let folder: PolicyFolder
    private let loaded = Mutex<PolicyLoad?>(nil)

    init(_ folder: PolicyFolder) { self.folder = folder }

    /// Keeps a load that the engine took.
    func keep(_ load: PolicyLoad?) { loaded.withLock { $0 = load } }

    /// Runs the tests of a policy; `nil` where none were loaded.
    func test(_ policy: VersionReference) -> TestEvidence? {
        let load = loaded.withLock { $0 }
        return load.flatMap { TestEvidence(of: policy, in: $0, zones: folder.zones) }
    }
}

/// A running service: store, engine, policies, HTTP, in the order they depend on each other.
final class Running {
    private let folder: DataFolder
    private let store: SQLiteStore
    private let engine: Engine
    private let policies: PolicyShelf
    private let service: Service
    private let checkpoints: CheckpointWriter
    private let log: Log
    /// How long stopping waits for answers under way.
    private static let drainMilliseconds: Int64 = 10_000

    init(_ options: ServeOptions, log: Log) throws {
        self.log = log
        // Before anything is recorded: the first load of policies must not be used up by a start
        // that fails for its address.
        try HTTPServer.checkAddress(options.address)
        let zones = SystemZones.load()
        folder = try DataFolder(path: options.data)
        // What a killed server left there names a port that may be somebody else's by now.
        RunningServer.remove(from: folder)
        let ledger = try LedgerStart(options)
        store = try SQLiteStore(folder: folder)
        engine = try Engine(
            store: store, zones: zones,
            failed: { log.error("storing failed", [("detail", .word($0))]) })
        policies = PolicyShelf(
            PolicyFolder(path: options.policies, zones: zones, activates: options.isDevelopment))
        var writer: CheckpointWriter?
        do {
            try ledger.goOn(engine, log)
            try Self.administer(engine, .configure(options.configuration, zones: zones.digest))
            try Self.loadPolicies(policies, engine, log)
            let operatorKey = try OperatorKey.ensure(engine, folder: folder)
            let key = options.isDevelopment ? try DevelopmentKey.ensure(engine, folder) : nil
            checkpoints = try ledger.checkpoints(engine, store, log)
            writer = checkpoints
            service = try Self.serve(
                engine, store, checkpoints, folder, policies, options, log)
            if let key { Terminal.print("DISCERN_KEY=\(key)") }
            try RunningServer(address: "\(service.address)", operatorKey: operatorKey)
                .write(to: folder)
        } catch {
            engine.stop()
            writer?.stop()
            store.close()
            throw error
        }
        Terminal.print("listening on http://\(service.address)")
        if engine.clockAhead > Engine.clockTolerance {
            log.error(
                "this machine's clock is behind the ledger's time",
                [("milliseconds", .int(engine.clockAhead.milliseconds))])
        }
        if engine.directory.registry.activations.isEmpty { log.warning("no policy acts") }
        log.info(
            "started", [("address", .word("\(service.address)")), ("data", .word(options.data))])
    }

    private static func serve(
        _ engine: Engine, _ store: SQLiteStore, _ checkpoints: CheckpointWriter,
        _ folder: DataFolder, _ policies: PolicyShelf, _ options: ServeOptions, _ log: Log
    ) throws -> Service {
        let backend = Backend(
            engine: engine, ledger: store.reader, checkpoints: checkpoints,
            pseudonymizer: Pseudonymizer(key: folder.pseudonymKey), limits: ServerLimits(),
            isSandboxOnly: options.isDevelopment,
            reloadPolicies: { load(policies, into: engine, actor: $0, log) },
            testPolicy: { policies.test($0) })
        return try Service(
            backend: backend, address: options.address, threads: options.threads,
            version: Version.current, log: log)
    }

    static func administer(_ engine: Engine, _ command: AdministrationCommand) throws {
        let reply = engine.perform(
            Submission(tenant: nil, actor: "system", command: .administer(command)))
        if case .refused(let refusal) = reply.content {
            throw CommandRefused(refusal: refusal, cause: engine.failure)
        }
    }

    /// Bad policies keep what acted before; only where nothing acts there is no point in going on.
    private static func loadPolicies(_ policies: PolicyShelf, _ engine: Engine, _ log: Log) throws {
        let reply = load(policies, into: engine, actor: "system", log)
        guard case .refused(let refusal) = reply.content else { return }
        // A disk that fails is no fault of the policies, and nothing that can be gone on with: what
        // the folder asks for would go unrecorded, and nobody would load it again.
        if let failure = engine.failure { throw CommandRefused(refusal: refusal, cause: failure) }
        guard engine.directory.registry.activations.isEmpty else { return }
        throw PoliciesRefused(report: refusal.detail)
    }

    /// Reads the policies, hands them to the engine, and tells what came of it: at the start, on
    /// SIGHUP, and by request.
    @discardableResult
    private static func load(
        _ policies: PolicyShelf, into engine: Engine, actor: String, _ log: Log
    ) -> Reply {
        let found = policies.folder.load()
        let report = found.report
        if !report.isEmpty { Terminal.say(report) }
        let reply = engine.perform(
            Submission(tenant: nil, actor: actor, command: .administer(.loadPolicies(found.load))))
        switch reply.content {
        case .administered(.loaded(let added, let activated)):
            policies.keep(found.checked)
            log.info(
                "policies loaded",
                [
                    ("added", .word(added.joined(separator: " "))),
                    ("activated", .word(activated.joined(separator: " "))),
                ])
        case .refused(let refusal):
            sayFaults(of: refusal, besides: report)
            log.error("policies not loaded", [("detail", .word(refusal.detail))])
        default: break
        }
        return reply
    }

    /// Faults that only the engine finds, such as content that changed under a known version.
    private static func sayFaults(of refusal: Refusal, besides report: String) {
        for fault in refusal.members["faults"]?.arrayValue ?? [] {
            if let text = fault.stringValue, !report.contains(text) { Terminal.say(text) }
        }
    }

    /// Reads the policies again, on SIGHUP.
    func reload() { Self.load(policies, into: engine, actor: "system", log) }

    /// Answers what was accepted, makes a last checkpoint, then closes the database in good order.
    func stop() {
        service.stop(drainMilliseconds: Self.drainMilliseconds)
        engine.stop()
        checkpoints.stop()
        store.close()
        RunningServer.remove(from: folder)
        log.info("stopped")
    }
}

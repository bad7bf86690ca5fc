import Engine
import Foundation
import JSON
import Ledger
import Policies
import Storage
import Synchronization
import Testing
import Time
import TrustInsights

/// A folder of its own for a test, removed with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "discern-test-" + UUID().uuidString
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names in a folder of it.
    func names(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + name)
    }

    /// Removes a file or folder of it.
    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + name)
    }

    /// The bytes that a file of it has.
    func size(_ name: String) throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// A copy of all that is in it now. Parts of the index that are merged meanwhile may be missing, as
    /// they may be after a crash.
    func copied() throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        let files = FileManager.default
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try files.createDirectory(
            atPath: copy.path, withIntermediateDirectories: true, attributes: mode)
        for name in try files.subpathsOfDirectory(atPath: path) {
            var isFolder = ObjCBool(false)
            let exists = files.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
            if isFolder.boolValue {
                try files.createDirectory(
                    atPath: copy.path + "/" + name, withIntermediateDirectories: true,
                    attributes: mode)
                continue
            }
            do {
                try files.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
            } catch  where name.hasPrefix("index/") || !exists {
                continue
            }
        }
        return copy
    }

    /// Changes the bytes of a file of it.
    func change(_ name: String, _ body: (inout Data) -> Void) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        var data = try Data(contentsOf: file)
        body(&data)
        try data.write(to: file)
    }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time: Mutex<Instant>

    init(_ start: Instant) { time = Mutex(start) }

    var now: Instant { time.withLock { $0 } }
    func advance(_ span: Duration) { time.withLock { $0 = $0 + span } }
}

/// An engine on a real database, with the shipped policies and one app.
final class Service {
    static let tenant = Tenant(app: "transcripts", environment: .sandbox)
    static let start = Instant(rfc3339: "2026-11-30T12:00:00Z")!

    let folder: TemporaryFolder
    let clock: TestClock
    private(set) var store: SQLiteStore
    private(set) var engine: Engine
    let pseudonymizer: Pseudonymizer

    init(
        folder: TemporaryFolder = TemporaryFolder(), configuration: Configuration = Configuration()
    ) throws {
        self.folder = folder
        clock = TestClock(Self.start)
        let data = try DataFolder(path: folder.path)
        pseudonymizer = Pseudonymizer(key: data.pseudonymKey)
        store = try SQLiteStore(folder: data)
        let clock = clock
        engine = try Engine(store: store, zones: .utc, clock: { clock.now })
        administer(.registerApp(id: "transcripts", name: "Transcripts"))
        administer(.configure(configuration, zones: "none"))
        administer(.loadPolicies(try Self.shipped()))
    }

    func restart(while closed: () throws -> Void = {}) throws {
        engine.stop()
        store.close()
        try closed()
        store = try SQLiteStore(folder: DataFolder(path: folder.path))
        let clock = clock
        engine = try Engine(store: store, zones: .utc, clock: { clock.now })
    }

    deinit {
        engine.stop()
        store.close()
    }

    /// The policies of the repository.
    static func shipped() throws -> CandidateLoad {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")
        var files: [PolicyLoader.File] = []
        for case let name as String in FileManager.default.enumerator(atPath: root.path)!
        where name.hasSuffix(".yaml") {
            let data = try Data(contentsOf: root.appending(path: name))
            files.append(PolicyLoader.File(path: name, bytes: Array(data)))
        }
        let load = PolicyLoader().load(files)
        let set = try #require(load.set, "\(load.diagnostics)")
        return CandidateLoad(set)
    }

    @discardableResult
    func administer(_ command: AdministrationCommand) -> Reply {
        engine.perform(Submission(tenant: nil, actor: "operator", command: .administer(command)))
    }

    @discardableResult
    func perform(_ command: Command, tenant: Tenant = Service.tenant) -> Reply {
        engine.perform(Submission(tenant: tenant, actor: "key-1", command: command))
    }

    @discardableResult
    func authorize(
        _ subject: String, _ status: AuthorizationStatus = .authorized,
        category: Policies.Category = .payment
    ) -> Reply {
        perform(
            .authorize(
                AuthorizeCommand(
                    subject: pseudonymizer.subject(subject, of: Self.tenant), category: category,
                    status: status)))
    }

    func evaluation(
        _ requestID: String, subject: String = "acct-42", amount: Double = 900,
        newPayee: Bool = true, device: DeviceResult? = DeviceResult(value: 0.97),
        force: ForcedResult? = nil, tenant: Tenant = Service.tenant,
        attributes unread: Result<[RecordedAttribute], Refusal>? = nil
    ) -> Command {
        let acting = engine.directory.acting(for: tenant, category: .payment)
        let attributes: JSONObject = [
            "amount": .double(amount), "currency": "EUR", "newPayee": .bool(newPayee),
        ]
        let read = Result { () throws(Refusal) in
            guard let acting else { throw Refusal(.contextInvalid, "none", reason: "noPolicy") }
            return try acting.readAttributes(
                attributes, at: "/context/attributes", pseudonymizer: pseudonymizer,
                tenant: tenant)
        }
        return .evaluate(
            EvaluateCommand(
                tenant: tenant, requestID: requestID,
                subject: pseudonymizer.subject(subject, of: tenant),
                action: pseudonymizer.action(
                    Array("\(subject) \(JSONValue.object(attributes).text)".utf8), tenant: tenant),
                category: .payment, attributes: unread ?? read,
                policyDigest: acting?.reference.digest ?? "", device: device, force: force))
    }
}

extension Reply {
    var evaluation: (record: EvaluationRecord, isReplay: Bool)? {
        if case .evaluation(let judged, let isReplay, _) = content {
            (judged.record, isReplay)
        } else {
            nil
        }
    }

    var refusal: Refusal? {
        if case .refused(let refusal) = content { refusal } else { nil }
    }
}

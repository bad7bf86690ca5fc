import JSON
import Ledger
import Policies
import Time

/// A registered caller.
public struct AppRecord: Record, Equatable {
    public static var kind: RecordKind { .app }

    /// The app's id.
    public var app: String
    /// Its name for people.
    public var name: String

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("app", app)
            writer.member("name", name)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        self.init(app: try command.string("app"), name: try command.string("name"))
    }

    init(app: String, name: String) {
        self.app = app
        self.name = name
    }
}

/// A key that was issued. Only the hash of the key is known.
public struct KeyRecord: Record, Equatable {
    public static var kind: RecordKind { .key }

    /// The key's id.
    public var keyID: String
    /// SHA-256 of the key.
    public var hash: Digest
    /// The app and environment it belongs to; `nil` for an operator's key.
    public var tenant: Tenant?
    /// What it may do.
    public let scopes: [Scope]
    /// The same as a set, made once: it is asked for at every request.
    public let scopeSet: Set<Scope>
    /// A note for people.
    public var name: String

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("app", tenant?.app)
            writer.member("environment", tenant?.environment.rawValue)
            writer.member("hash", hash.hex)
            writer.member("keyID", keyID)
            writer.member("name", name)
            writer.member("scopes", scopes.map(\.rawValue))
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        guard let hash = Digest(hex: try command.string("hash")) else {
            throw command.corrupt("hash")
        }
        let tenant: Tenant? =
            if let app = command.stringIfPresent("app") {
                Tenant(app: app, environment: try command.choice("environment"))
            } else { nil }
        self.init(
            keyID: try command.string("keyID"), hash: hash, tenant: tenant,
            scopes: try command.strings("scopes").compactMap(Scope.init(rawValue:)),
            name: command.stringIfPresent("name") ?? "")
    }

    init(keyID: String, hash: Digest, tenant: Tenant?, scopes: [Scope], name: String) {
        self.keyID = keyID
        self.hash = hash
        self.tenant = tenant
        self.scopes = scopes
        scopeSet = Set(scopes)
        self.name = name
    }
}

/// A key that is no longer good.
public struct KeyRevocationRecord: Record, Equatable {
    public static var kind: RecordKind { .keyRevocation }

    /// The key's id.
    public var keyID: String

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { $0.member("keyID", keyID) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        self.init(keyID: try payload.object("command").string("keyID"))
    }

    init(keyID: String) { self.keyID = keyID }
}

/// A configuration that holds from here on.
public struct ConfigurationRecord: Record, Equatable {
    public static var kind: RecordKind { .configuration }

    /// The configuration.
    public var configuration: Configuration
    /// The digest of the zone data in use.
    public var zones: String

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.key("configuration")
            writer.canonical(configuration.json)
            writer.member("zones", zones)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        do {
            configuration = try Configuration(json: command.value["configuration"] ?? .null)
        } catch {
            throw command.corrupt("configuration")
        }
        zones = try command.string("zones")
    }

    init(configuration: Configuration, zones: String) {
        self.configuration = configuration
        self.zones = zones
    }
}

/// Policies and models that became candidates, with their whole text, so that any decision
/// can be run again; or a load that failed and changed nothing.
public struct PoliciesRecord: Record, Equatable {
    public static var kind: RecordKind { .policies }

    /// One file.
    public struct File: Sendable, Equatable {
        /// The path it was loaded from.
        public var path: String
        /// Its exact text.
        public var source: String

        /// The line of the file's `version`, from 1; 1 if there is none.
        var versionLine: Int {
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            return (lines.firstIndex { $0.hasPrefix("version:") } ?? 0) + 1
        }

        /// A file's path and text.
        public init(path: String, source: String) {
            self.path = path
            self.source = source
        }
    }

    /// The files that are new.
    public var files: [File]
    /// What began to act with this load.
    public var activations: [ActivationRecord]
    /// Why the load failed: `file:line:col: error: message [code]`, one each.
    public var faults: [String]

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.key("files")
            writer.beginArray()
            for file in files {
                writer.beginObject()
                writer.member("path", file.path)
                writer.member("source", file.source)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.object("result") { writer in
            writer.key("activations")
            writer.beginArray()
            for activation in activations {
                writer.beginObject()
                activation.writeMembers(to: &writer)
                writer.endObject()
            }
            writer.endArray()
            if !faults.isEmpty { writer.member("faults", faults) }
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let result = try payload.object("result")
        self.init(
            files: try payload.object("command").objects("files").map { file throws(CorruptEntry) in
                File(path: try file.string("path"), source: try file.string("source"))
            },
            activations: try result.objects("activations").map(ActivationRecord.init(members:)),
            faults: try result.strings("faults"))
    }

    init(files: [File], activations: [ActivationRecord], faults: [String] = []) {
        self.files = files
        self.activations = activations
        self.faults = faults
    }
}

import JSON
import Ledger

/// An operator goes on with a ledger that is not the one of its latest checkpoint, such as a
/// restored backup, and says why.
public struct LedgerForkRecord: Record, Equatable {
    public static var kind: RecordKind { .ledgerFork }

    /// A ledger's size and root.
    public struct Tree: Sendable, Equatable {
        /// How many entries.
        public var size: Int64
        /// Their root.
        public var root: Digest

        /// A tree of that many entries.
        public init(size: Int64, root: Digest) {
            self.size = size
            self.root = root
        }
    }

    /// Why, in the operator's words.
    public var reason: String
    /// What the latest checkpoint says; `nil` where there was none any more.
    public var expected: Tree?
    /// What the database held.
    public var found: Tree

    /// A fork and the reason for it.
    public init(reason: String, expected: Tree?, found: Tree) {
        self.reason = reason
        self.expected = expected
        self.found = found
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            if let expected { Self.write("expected", expected, to: &writer) }
            Self.write("found", found, to: &writer)
            writer.member("reason", reason)
        }
        writer.endObject()
    }

    private static func write(_ name: StaticString, _ tree: Tree, to writer: inout JSONWriter) {
        writer.object(name) { writer in
            writer.member("root", tree.root.hex)
            writer.key("size")
            writer.int(tree.size)
        }
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        reason = try command.string("reason")
        expected = try command.objectIfPresent("expected").map { tree throws(CorruptEntry) in
            try Self.tree(tree)
        }
        found = try Self.tree(command.object("found"))
    }

    private static func tree(_ reader: RecordReader) throws(CorruptEntry) -> Tree {
        guard let root = Digest(hex: try reader.string("root")) else {
            throw reader.corrupt("root")
        }
        return Tree(size: try reader.int("size"), root: root)
    }
}

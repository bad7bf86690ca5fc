/// The hashes of RFC 6962, section 2.1: a leaf and an inner node can never be taken for
/// each other, since they are hashed behind different first bytes.
public enum MerkleTree {
    /// The hash of a leaf: SHA-256(0x00 ‖ bytes).
    public static func leaf(_ bytes: [UInt8]) -> Digest {
        withUnsafeBytes(of: UInt8(0)) { prefix in
            bytes.withUnsafeBytes { SHA256.hash(prefix, $0) }
        }
    }

    /// The hash of a leaf whose bytes stand somewhere.
    public static func leaf(_ bytes: UnsafeRawBufferPointer) -> Digest {
        withUnsafeBytes(of: UInt8(0)) { SHA256.hash($0, bytes) }
    }

    /// The hash of two neighbouring subtrees: SHA-256(0x01 ‖ left ‖ right).
    public static func node(_ left: Digest, _ right: Digest) -> Digest {
        withUnsafeBytes(of: UInt8(1)) { prefix in
            left.withBytes { left in right.withBytes { SHA256.hash(prefix, left, $0) } }
        }
    }

    /// The root of a tree without leaves: SHA-256 of nothing.
    public static let emptyRoot = SHA256.hash([])
}

/// The right edge of a growing Merkle tree: enough to append and to know the root.
///
/// It holds the roots of the complete subtrees, the largest first: one for each bit that is
/// set in `count`. Appending costs one node on average.
public struct MerkleFrontier: Sendable, Equatable {
    /// How many leaves the tree has.
    public private(set) var count: UInt64
    /// Roots of the complete subtrees from left to right.
    public private(set) var subtrees: [Digest]

    /// A tree without leaves.
    public init() {
        count = 0
        subtrees = []
    }

    /// A tree of that many leaves with those complete subtrees; `nil` if they cannot belong
    /// together.
    public init?(count: UInt64, subtrees: [Digest]) {
        guard subtrees.count == count.nonzeroBitCount else { return nil }
        self.count = count
        self.subtrees = subtrees
    }

    /// Appends a leaf and returns the hashes that this completes: the leaf, then the
    /// subtrees of 2, 4, 8 … leaves that end with it. Stored beside the entry they make
    /// any proof a matter of reading a few rows.
    @discardableResult
    public mutating func append(_ leaf: Digest) -> [Digest] {
        var completed = [leaf]
        var current = leaf
        count += 1
        for _ in 0..<count.trailingZeroBitCount {
            current = MerkleTree.node(subtrees.removeLast(), current)
            completed.append(current)
        }
        subtrees.append(current)
        return completed
    }

    /// The root hash of the tree (RFC 6962, 2.1).
    public var root: Digest {
        guard var root = subtrees.last else { return MerkleTree.emptyRoot }
        for subtree in subtrees.dropLast().reversed() { root = MerkleTree.node(subtree, root) }
        return root
    }

    /// Where the complete subtrees of a tree of `count` leaves stand: the number of the leaf
    /// that ends each (from 1) and its level (0 is a leaf), from left to right.
    public static func places(count: UInt64) -> [(leaf: UInt64, level: Int)] {
        var places: [(leaf: UInt64, level: Int)] = []
        var end: UInt64 = 0
        for level in stride(from: 63, through: 0, by: -1) where count & (1 << level) != 0 {
            end += 1 << level
            places.append((end, level))
        }
        return places
    }
}

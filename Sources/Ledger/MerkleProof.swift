/// Proofs about a Merkle tree (RFC 6962, sections 2.1.1 and 2.1.2), and how they are checked.
///
/// Making a proof reads stored nodes only, at most two for each level of the tree. Checking needs
/// nothing but the proof and the roots: an auditor can do it without the ledger.
public enum MerkleProof {
    /// Gives the stored root of the complete subtree of 2^`level` leaves that ends with leaf number
    /// `leaf`, counted from 1.
    public typealias Node = (_ leaf: UInt64, _ level: Int) throws -> Digest

    /// Why a proof cannot be made.
    public enum Failure: Error, Sendable, Equatable {
        /// There is no such leaf, or no such size, in a tree of so many leaves.
        case outside(UInt64, size: UInt64)
    }

    // MARK: Making

    /// The root of the first `size` leaves.
    public static func root(size: UInt64, node: Node) throws -> Digest {
        size == 0 ? MerkleTree.emptyRoot : try hash(0..<size, node)
    }

    /// The audit path of a leaf: the siblings on the way from it to the root, from the leaf on.
    ///
    /// - Parameters:
    ///   - leaf: the number of the leaf, from 1.
    ///   - size: how many leaves the tree has.
    public static func inclusion(of leaf: UInt64, size: UInt64, node: Node) throws -> [Digest] {
        guard leaf >= 1, leaf <= size else { throw Failure.outside(leaf, size: size) }
        var path: [Digest] = []
        var range = 0..<size
        while range.count > 1 {
            let middle = range.lowerBound + split(UInt64(range.count))
            if leaf - 1 < middle {
                path.append(try hash(middle..<range.upperBound, node))
                range = range.lowerBound..<middle
            } else {
                path.append(try hash(range.lowerBound..<middle, node))
                range = middle..<range.upperBound
            }
        }
        return path.reversed()
    }

    /// The proof that the tree of the first `old` leaves is a beginning of the tree of `size`.
    public static func consistency(from old: UInt64, to size: UInt64, node: Node) throws -> [Digest]
    {
        guard old <= size else { throw Failure.outside(old, size: size) }
        guard old > 0, old < size else { return [] }
        var path: [Digest] = []
        var range = 0..<size
        // Whether the old tree is a complete part of the new one so far, whose root the checker has.
        var isWhole = true
        while old != range.upperBound {
            let middle = range.lowerBound + split(UInt64(range.count))
            if old <= middle {
                path.append(try hash(middle..<range.upperBound, node))
                range = range.lowerBound..<middle
            } else {
                path.append(try hash(range.lowerBound..<middle, node))
                range = middle..<range.upperBound
                isWhole = false
            }
        }
        if !isWhole { path.append(try hash(range, node)) }
        return path.reversed()
    }

    /// The largest power of two below a number of leaves, which is at least 2.
    private static func split(_ count: UInt64) -> UInt64 {
        1 << UInt64(63 - (count - 1).leadingZeroBitCount)
    }

    /// The root of the leaves of a range, which begins where a complete subtree of its size or more
    /// could begin.
    private static func hash(_ range: Range<UInt64>, _ node: Node) throws -> Digest {
        let count = UInt64(range.count)
        if count.nonzeroBitCount == 1 {
            return try node(range.upperBound, count.trailingZeroBitCount)
        }
        let middle = range.lowerBound + split(count)
        return MerkleTree.node(
            try hash(range.lowerBound..<middle, node), try hash(middle..<range.upperBound, node))
    }

    // MARK: Checking

    /// Whether a leaf with that hash is number `leaf`, from 1, of the tree of `size` leaves with that
    /// root (RFC 9162, section 2.1.3.2).
    public static func isIncluded(
        _ hash: Digest, at leaf: UInt64, size: UInt64, root: Digest, proof: [Digest]
    ) -> Bool {
        guard leaf >= 1, leaf <= size else { return false }
        var index = leaf - 1
        var last = size - 1
        var current = hash
        for sibling in proof {
            guard last > 0 else { return false }
            if index & 1 == 1 || index == last {
                current = MerkleTree.node(sibling, current)
                while index & 1 == 0, index != 0 {
                    index >>= 1
                    last >>= 1
                }
            } else {
                current = MerkleTree.node(current, sibling)
            }
            index >>= 1
            last >>= 1
        }
        return last == 0 && current == root
    }

    /// Whether a tree of `size` leaves with one root begins with the tree of `old` leaves with the
    /// other (RFC 9162, section 2.1.4.2).
    public static func isConsistent(
        from old: UInt64, root oldRoot: Digest, to size: UInt64, root: Digest, proof: [Digest]
    ) -> Bool {
        if old == size { return proof.isEmpty && oldRoot == root }
        guard old < size else { return false }
        if old == 0 { return proof.isEmpty && oldRoot == MerkleTree.emptyRoot }
        var path = proof[...]
        if old.nonzeroBitCount == 1 { path = ([oldRoot] + proof)[...] }
        guard let first = path.popFirst() else { return false }
        var index = old - 1
        var last = size - 1
        while index & 1 == 1 {
            index >>= 1
            last >>= 1
        }
        var (before, after) = (first, first)
        for sibling in path {
            guard last > 0 else { return false }
            if index & 1 == 1 || index == last {
                before = MerkleTree.node(sibling, before)
                after = MerkleTree.node(sibling, after)
                while index & 1 == 0, index != 0 {
                    index >>= 1
                    last >>= 1
                }
            } else {
                after = MerkleTree.node(after, sibling)
            }
            index >>= 1
            last >>= 1
        }
        return last == 0 && before == oldRoot && after == root
    }
}

import Ledger

/// Entries by number, with the hashes of the tree that stand beside them: what roots and proofs are
/// made from, in a few dozen rows whatever the ledger's size.
public protocol LedgerNodes {
    /// The entry of that number.
    func entry(_ sequence: Int64) throws -> LedgerEntry?
}

extension LedgerNodes {
    private func node(leaf: UInt64, level: Int) throws -> Digest {
        let sequence = Int64(clamping: leaf)
        guard let nodes = try entry(sequence)?.nodes, level < nodes.count else {
            throw CorruptEntry(
                sequence: sequence, detail: "the entry or a hash beside it is missing")
        }
        return nodes[level]
    }

    /// The root of the first `size` entries, by the stored hashes.
    public func root(of size: UInt64) throws -> Digest {
        try MerkleProof.root(size: size, node: node)
    }

    /// The proof that an entry is one of the first `size`. The ledger must have so many.
    public func inclusion(of sequence: UInt64, size: UInt64) throws -> ProofDocument {
        let path = try MerkleProof.inclusion(of: sequence, size: size, node: node)
        guard let entry = try entry(Int64(clamping: sequence)) else {
            throw CorruptEntry(sequence: Int64(clamping: sequence), detail: "it is missing")
        }
        return try checked(
            .inclusion(
                sequence: sequence, envelope: entry.envelopeBytes, size: size,
                root: root(of: size), proof: path), sequence)
    }

    /// The proof that the first `to` entries begin with the first `from`. The ledger must have so
    /// many.
    public func consistency(from: UInt64, to: UInt64) throws -> ProofDocument {
        let path = try MerkleProof.consistency(from: from, to: to, node: node)
        return try checked(
            .consistency(
                from: from, fromRoot: root(of: from), to: to, toRoot: root(of: to), proof: path),
            to)
    }

    /// Stored hashes may have been changed: nothing is handed out that does not hold.
    private func checked(_ proof: ProofDocument, _ sequence: UInt64) throws -> ProofDocument {
        guard proof.holds else {
            throw CorruptEntry(
                sequence: Int64(clamping: sequence),
                detail: "stored hashes do not add up: `discern audit verify` names the first")
        }
        return proof
    }
}

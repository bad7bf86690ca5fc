import Ledger
import Testing

@Suite struct MerkleProofTests {
    /// A tree whose nodes are read as they are stored beside the entries.
    struct Stored {
        var leaves: [Digest] = []
        var rows: [[Digest]] = []
        var roots: [Digest] = [MerkleTree.emptyRoot]

        init(_ size: Int) {
            var frontier = MerkleFrontier()
            for number in 1...size {
                let leaf = MerkleTree.leaf(Array("entry \(number)".utf8))
                leaves.append(leaf)
                rows.append(frontier.append(leaf))
                roots.append(frontier.root)
            }
        }

        struct NotStored: Error {}

        func node(_ leaf: UInt64, _ level: Int) throws -> Digest {
            let row = rows[Int(leaf) - 1]
            guard row.indices.contains(level) else { throw NotStored() }
            return row[level]
        }
    }

    static let largest = 70
    static let tree = Stored(largest)

    @Test func everyLeafIsProvedInEveryTree() throws {
        let tree = Self.tree
        for size in UInt64(1)...UInt64(Self.largest) {
            let root = try MerkleProof.root(size: size, node: tree.node)
            #expect(root == tree.roots[Int(size)])
            for leaf in 1...size {
                let proof = try MerkleProof.inclusion(of: leaf, size: size, node: tree.node)
                let hash = tree.leaves[Int(leaf) - 1]
                func holds(
                    _ hash: Digest, _ leaf: UInt64, _ size: UInt64, _ root: Digest,
                    _ proof: [Digest]
                ) -> Bool {
                    MerkleProof.isIncluded(hash, at: leaf, size: size, root: root, proof: proof)
                }
                #expect(holds(hash, leaf, size, root, proof), "leaf \(leaf) of \(size)")
                #expect(!holds(root, leaf, size, root, proof) || size == 1)
                #expect(!holds(hash, leaf, size, MerkleTree.emptyRoot, proof))
                #expect(!holds(hash, leaf, size, root, proof + [hash]))
                #expect(!holds(hash, leaf, size, root, Array(proof.dropLast())) || size == 1)
                #expect(!holds(hash, leaf == size ? leaf - 1 : leaf + 1, size, root, proof))
            }
        }
    }

    @Test func everyTreeIsABeginningOfEveryLargerOne() throws {
        let tree = Self.tree
        for size in UInt64(0)...UInt64(Self.largest) {
            for old in 0...size {
                let proof = try MerkleProof.consistency(from: old, to: size, node: tree.node)
                func holds(_ before: Digest, _ after: Digest, _ proof: [Digest]) -> Bool {
                    MerkleProof.isConsistent(
                        from: old, root: before, to: size, root: after, proof: proof)
                }
                let (before, after) = (tree.roots[Int(old)], tree.roots[Int(size)])
                #expect(holds(before, after, proof), "\(old) to \(size)")
                #expect(!holds(before, after, proof + [before]))
                let other = MerkleTree.leaf([0xFF])
                #expect(!holds(other, after, proof))
                if old > 0 { #expect(!holds(before, other, proof)) }
                for index in proof.indices {
                    var changed = proof
                    changed[index] = other
                    #expect(!holds(before, after, changed))
                }
            }
        }
    }

    /// The path of the first leaf of the seven in RFC 6962, section 2.1.3: b, h, l.
    @Test func thePathsOfTheSpecification() throws {
        let tree = Stored(7)
        let d = tree.leaves
        let (h, i, j) = (
            MerkleTree.node(d[2], d[3]), MerkleTree.node(d[4], d[5]), d[6]
        )
        let g = MerkleTree.node(d[0], d[1])
        let (k, l) = (MerkleTree.node(g, h), MerkleTree.node(i, j))
        #expect(try MerkleProof.inclusion(of: 1, size: 7, node: tree.node) == [d[1], h, l])
        #expect(try MerkleProof.inclusion(of: 4, size: 7, node: tree.node) == [d[2], g, l])
        #expect(try MerkleProof.inclusion(of: 5, size: 7, node: tree.node) == [d[5], j, k])
        #expect(try MerkleProof.inclusion(of: 7, size: 7, node: tree.node) == [i, k])
        #expect(try MerkleProof.consistency(from: 3, to: 7, node: tree.node) == [d[2], d[3], g, l])
        #expect(try MerkleProof.consistency(from: 4, to: 7, node: tree.node) == [l])
        #expect(try MerkleProof.consistency(from: 6, to: 7, node: tree.node) == [i, j, k])
    }

    @Test func whatIsNotThereHasNoProof() {
        let tree = Self.tree
        #expect(throws: MerkleProof.Failure.outside(0, size: 5)) {
            try MerkleProof.inclusion(of: 0, size: 5, node: tree.node)
        }
        #expect(throws: MerkleProof.Failure.outside(6, size: 5)) {
            try MerkleProof.inclusion(of: 6, size: 5, node: tree.node)
        }
        #expect(throws: MerkleProof.Failure.outside(6, size: 5)) {
            try MerkleProof.consistency(from: 6, to: 5, node: tree.node)
        }
    }
}

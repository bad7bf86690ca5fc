import Ledger
import Testing

@Suite struct MerkleTreeTests {
    /// The definition of RFC 6962, section 2.1, word for word: slow, and independent of the
    /// frontier.
    static func root(_ leaves: ArraySlice<[UInt8]>) -> Digest {
        if leaves.isEmpty { return SHA256.hash([]) }
        if leaves.count == 1 { return SHA256.hash([0] + leaves.first!) }
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        let left = root(leaves.prefix(split))
        let right = root(leaves.dropFirst(split))
        return SHA256.hash([1] + left.withBytes { Array($0) } + right.withBytes { Array($0) })
    }

    /// Leaves and roots of the test vectors that Certificate Transparency implementations share.
    static let leaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
        [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
        [
            0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D,
            0x6E, 0x6F,
        ],
    ]

    @Test func knownRoots() {
        #expect(
            MerkleTree.emptyRoot.hex
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        var frontier = MerkleFrontier()
        for leaf in Self.leaves { frontier.append(MerkleTree.leaf(leaf)) }
        #expect(
            frontier.root.hex == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328")
    }

    @Test func everySizeAgreesWithTheDefinition() throws {
        var frontier = MerkleFrontier()
        var leaves: [[UInt8]] = []
        var rows: [[Digest]] = []
        for size in 0...130 {
            #expect(frontier.root == Self.root(leaves[...]), "size \(size)")
            // A frontier can be found again in what is stored beside the entries.
            let subtrees = MerkleFrontier.places(count: UInt64(size)).map {
                rows[Int($0.leaf) - 1][$0.level]
            }
            #expect(MerkleFrontier(count: UInt64(size), subtrees: subtrees) == frontier)
            let leaf = Array("entry \(size)".utf8)
            leaves.append(leaf)
            rows.append(frontier.append(MerkleTree.leaf(leaf)))
            #expect(rows[size].count == 1 + (size + 1).trailingZeroBitCount)
        }
    }

    @Test func aFrontierOfTheWrongSizeIsRefused() {
        #expect(MerkleFrontier(count: 3, subtrees: [MerkleTree.emptyRoot]) == nil)
    }
}

import Policies

extension ReviewHoldout {
    /// Whether a subject is held out.
    ///
    /// The subject's pseudonym and the salt are hashed with FNV-1a (64 bits) and mixed, so the
    /// answer is the same on every machine and in every replay, spreads evenly, and changes as a
    /// whole with the salt. Pseudonyms are keyed digests, so nobody can choose theirs.
    func holds(out subject: String) -> Bool {
        guard percent > 0 else { return false }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in [salt, "\u{0}", subject] {
            for byte in part.utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        // FNV leaves the last bytes mostly in the low bits; two rounds of multiply and shift
        // spread them over the whole word.
        hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return Double(hash % 10_000) < percent * 100
    }
}

import Ledger

/// Where the signed checkpoints of the ledger come from.
public protocol CheckpointSource: Sendable {
    /// The newest; `nil` before the first.
    var latest: SignedCheckpoint? { get }
    /// The key that they are signed with.
    var verifier: NoteVerifier { get }
    /// Why the latest attempt failed; `nil` when it did not.
    var failure: String? { get }
    /// Makes one of all that is stored by now, or gives the latest if that is it. It waits for the
    /// disk.
    func make() throws -> SignedCheckpoint
}

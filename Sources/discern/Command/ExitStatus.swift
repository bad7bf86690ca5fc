/// There is nothing to test, judge or compare.
struct NothingTested: Error {
    var message: String
}

/// What the process says when it ends.
enum ExitStatus {
    /// All is well.
    static let fine: Int32 = 0
    /// A file, the network or the program itself failed.
    static let failure: Int32 = 1
    /// The command line is wrong.
    static let usage: Int32 = 2
    /// Policies are invalid.
    static let invalidPolicies: Int32 = 3
    /// Tests failed.
    static let testsFailed: Int32 = 4
    /// No test ran, or less was covered than asked for.
    static let nothingTested: Int32 = 5
    /// The audit log is broken.
    static let auditBroken: Int32 = 6
}

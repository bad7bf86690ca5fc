import Testing

/// Whole stories with the real binary on a real socket and a real disk.
///
/// One after another: each starts processes and connections by the hundred, and would only
/// slow the others down.
@Suite(.serialized) struct Scenarios {}

import CRE2

/// A compiled regular expression.
///
/// `@unchecked Sendable`: RE2 objects are immutable and safe to match with from many threads; the
/// handle is freed when the last reference goes.
final class Regex: @unchecked Sendable {
    struct Fault: Error {
        var message: String
        /// It was given up for its size.
        var isTooLarge = false
    }

    private let handle: OpaquePointer
    let groups: Int
    /// The instructions it was compiled to: compiling takes time for each.
    let size: Int

    private init(_ handle: OpaquePointer) {
        self.handle = handle
        groups = Int(cre2_groups(handle))
        size = max(1, Int(cre2_program_size(handle)))
    }

    deinit { cre2_free(handle) }

    static func compile(_ pattern: some Collection<UInt8>, limits: Limits) -> Result<Regex, Fault> {
        guard pattern.count <= limits.regexBytes else {
            return .failure(
                Fault(message: "it has \(pattern.count) bytes, more than \(limits.regexBytes)"))
        }
        let characters = pattern.map { CChar(bitPattern: $0) }
        var error = [CChar](repeating: 0, count: 256)
        let handle = cre2_compile(
            characters, characters.count, Int64(limits.regexMemory), &error, error.count)
        guard let handle else {
            let text = error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let message = String(decoding: text, as: UTF8.self)
            return .failure(
                Fault(message: message, isTooLarge: message.hasPrefix("pattern too large")))
        }
        return .success(Regex(handle))
    }

    /// What matching a text may cost: RE2 takes a step for each byte, and where its automaton grows
    /// too large one for each instruction that may be active.
    func cost(_ count: Int) -> Int { 16 + count * factor }

    /// The cost of each byte of text.
    var factor: Int { Self.factor(size) }

    static func factor(_ size: Int) -> Int { 1 + size / 16 }

    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        cre2_matches(handle, text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count)
    }

    /// Start and end of the first match from an offset on, then of each group; -1 for a group that
    /// took no part. Nil where nothing matches.
    func find(_ text: UnsafeRawBufferPointer, from start: Int) -> [(start: Int, end: Int)]? {
        var spans = [Int](repeating: -1, count: 2 * (groups + 1))
        let found = cre2_find(
            handle, text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, start,
            &spans, Int32(groups + 1))
        guard found else { return nil }
        return (0...groups).map { (spans[2 * $0], spans[2 * $0 + 1]) }
    }
}

import Glibc

/// Standard output and standard error: results to the one, everything else to the other.
enum Terminal {
    /// Writes a result.
    static func print(_ text: String) { write(Array((text + "\n").utf8), to: STDOUT_FILENO) }

    /// Writes a result that is bytes already.
    static func print(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    /// Tells the person at the terminal something.
    static func say(_ text: String) { write(Array((text + "\n").utf8), to: STDERR_FILENO) }

    /// Whether a person reads standard output.
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether colours may be used there.
    static var hasColour: Bool { isInteractive && getenv("NO_COLOR") == nil }

    /// Writes text as it is.
    static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var offset = 0
        bytes.withUnsafeBytes { buffer in
            while offset < buffer.count {
                let count = Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0, errno == EINTR { continue }
                // Nobody is left to tell: a closed pipe ends the output.
                guard count > 0 else { return }
                offset += count
            }
        }
    }
}

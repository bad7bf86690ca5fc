import Glibc
import Policies
import Synchronization

/// Standard output and standard error: results to the one, everything else to the other.
enum Terminal {
    /// Why a result could not be written; zero while all could be.
    private static let outputError = Mutex<Int32>(0)

    /// Why results were lost: a full disk, say. That whoever read them has gone is no fault.
    static var outputFailure: String? {
        let error = outputError.withLock { $0 }
        return error == 0 || error == EPIPE ? nil : String(cString: strerror(error))
    }

    /// Writes a result.
    static func print(_ text: String) { write(Array((text + "\n").utf8), to: STDOUT_FILENO) }

    /// Writes a result that is bytes already.
    static func print(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    /// Writes a result that is a sentence or a few, broken to fit a terminal.
    static func print(prose text: String) { write(prose: text, to: STDOUT_FILENO) }

    /// Tells the person at the terminal something, broken to fit it.
    static func say(_ text: String) { write(prose: text, to: STDERR_FILENO) }

    /// Where no terminal is, a line stays one: programs read it.
    private static func write(prose text: String, to descriptor: Int32) {
        var text = text
        if let columns = columns(of: descriptor) {
            text = text.split(separator: "\n", omittingEmptySubsequences: false)
                .flatMap { Layout.wrapIfLong(String($0), columns: columns) }
                .joined(separator: "\n")
        }
        write(text + "\n", to: descriptor)
    }

    /// Whether a person reads standard output.
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether colours may be used on standard error.
    static var hasColour: Bool { isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == nil }

    /// The columns of a terminal that text is laid out for: 60 to 100, since longer lines are
    /// hard to read and tables need some room. Nil where there is no terminal.
    static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        var columns = 0
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 { columns = Int(size.ws_col) }
        // A terminal that does not know, as over a serial line.
        if columns == 0, let text = getenv("COLUMNS") { columns = Int(String(cString: text)) ?? 0 }
        return columns == 0 ? WrappedText.columns : min(max(columns, 60), WrappedText.columns)
    }

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
                guard count > 0 else {
                    if descriptor == STDOUT_FILENO {
                        outputError.withLock { [errno] in $0 = errno }
                    }
                    return
                }
                offset += count
            }
        }
    }
}

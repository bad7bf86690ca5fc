import Glibc
import JSON
import Synchronization
import Time

/// Structured logging: one JSON object per line on standard error.
///
/// Personal data has no place in it. Values are numbers, fixed words, and names that an operator
/// gave; bodies, queries, raw ids of subjects and devices, and keys are never passed to it.
public final class Log: Sendable {
    /// How much a line matters, as in syslog and swift-log.
    public enum Level: String, Sendable, CaseIterable, Comparable {
        /// Every request.
        case debug
        /// What an operator expects to see: start, stop, policies loaded.
        case info
        /// Something is not as it should be, and the service goes on.
        case warning
        /// Something failed.
        case error

        /// By severity.
        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A value beside a message.
    public enum Value: Sendable, Equatable {
        /// A word of ours or of an operator's: a code, a name of a policy, a file, a key's id.
        case word(String)
        /// A number.
        case int(Int64)
        /// A truth value.
        case bool(Bool)
    }

    /// Names and values beside a message, in order.
    public typealias Metadata = [(name: StaticString, value: Value)]

    private let level: Level
    private let descriptor: Int32
    private let clock: @Sendable () -> Instant

    /// Lines of that level and above, to that descriptor.
    public init(
        level: Level = .info, descriptor: Int32 = STDERR_FILENO,
        clock: @escaping @Sendable () -> Instant = Log.wallClock
    ) {
        self.level = level
        self.descriptor = descriptor
        self.clock = clock
    }

    /// Whether a line of that level would be written.
    public func isOn(_ level: Level) -> Bool { level >= self.level }

    /// Writes a line. The message is fixed text; what varies belongs into the metadata.
    public func write(_ level: Level, _ message: StaticString, _ metadata: Metadata = []) {
        guard isOn(level) else { return }
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("time")
        writer.string(clock().rfc3339)
        writer.key("level")
        writer.string(level.rawValue)
        writer.key("message")
        writer.string(message.description)
        for (name, value) in metadata {
            writer.key(name)
            switch value {
            case .word(let word): writer.string(word)
            case .int(let number): writer.int(number)
            case .bool(let flag): writer.bool(flag)
            }
        }
        writer.endObject()
        // One call per line, so that lines of several threads do not mix.
        var line = writer.bytes
        line.append(UInt8(ascii: "\n"))
        var written = 0
        while written < line.count {
            let count = line[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }  // nobody is left to tell
            written += count
        }
    }

    /// For every request.
    public func debug(_ message: StaticString, _ metadata: Metadata = []) {
        write(.debug, message, metadata)
    }
    /// For what an operator expects.
    public func info(_ message: StaticString, _ metadata: Metadata = []) {
        write(.info, message, metadata)
    }
    /// For what is not as it should be.
    public func warning(_ message: StaticString, _ metadata: Metadata = []) {
        write(.warning, message, metadata)
    }
    /// For what failed.
    public func error(_ message: StaticString, _ metadata: Metadata = []) {
        write(.error, message, metadata)
    }

    /// The time of the system.
    public static let wallClock: @Sendable () -> Instant = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

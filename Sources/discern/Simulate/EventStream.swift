import Engine
import Glibc
import JSON
import Storage
import Time

/// A stream of donations as NDJSON. It is read once, a piece at a time.
struct EventStream {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// The longest line, in bytes.
    static let longestLine = 1 << 16
    private static let limits = JSONLimits(bytes: longestLine, depth: 8)
    private static let chunk = 1 << 18

    let path: String
    let zones: ZoneDatabase

    /// Hands the events to `body`, in their order, with the numbers of their lines, and says where a
    /// line is at fault.
    func each(_ body: (ReviewEvent, _ line: Int) throws -> Void) throws {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(errno) }
        defer { close(descriptor) }
        // Lines are looked at where they were read; what is left of the last one moves to the front.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.longestLine + Self.chunk, alignment: 16)
        defer { buffer.deallocate() }
        var filled = 0
        var number = 0
        while true {
            let count = Glibc.read(
                descriptor, buffer.baseAddress?.advanced(by: filled), Self.chunk)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault(errno) }
            if count == 0 { break }
            var start = 0
            var search = filled
            filled += count
            while let end = Self.lineEnd(buffer, from: search, to: filled) {
                number += 1
                try line(UnsafeRawBufferPointer(rebasing: buffer[start..<end]), number, body)
                start = end + 1
                search = start
            }
            if start > 0, filled > start, let base = buffer.baseAddress {
                memmove(base, base + start, filled - start)
            }
            filled -= start
            guard filled <= Self.longestLine else { throw tooLong(number + 1) }
        }
        if filled > 0 {
            try line(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), number + 1, body)
        }
    }

    private static func lineEnd(
        _ buffer: UnsafeMutableRawBufferPointer, from: Int, to end: Int
    ) -> Int? {
        guard let base = buffer.baseAddress, end > from,
            let found = memchr(base + from, 0x0A, end - from)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private func line(
        _ bytes: UnsafeRawBufferPointer, _ number: Int,
        _ body: (ReviewEvent, _ line: Int) throws -> Void
    ) throws {
        guard bytes.count <= Self.longestLine else { throw tooLong(number) }
        // An empty line, or one that ends as on Windows.
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return }
        let event: ReviewEvent
        do {
            event = try JSONReader.withCursor(bytes, limits: Self.limits) { root in
                try EventLine.read(root, zones: zones)
            }
        } catch let error as EventLine.Fault {
            throw Fault(description: "\(path):\(number): \(error.text)")
        } catch let error as JSONError {
            throw Fault(description: "\(path):\(number):\(error.offset + 1): \(error.message)")
        }
        try body(event, number)
    }

    private func tooLong(_ number: Int) -> Fault {
        Fault(
            description: "\(path):\(number): a line of more than "
                + "\(Figures.grouped(Self.longestLine)) bytes")
    }

    private func fault(_ error: Int32) -> Fault {
        Fault(description: "\(path): \(String(cString: strerror(error)))")
    }
}

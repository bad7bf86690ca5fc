/// Why the bytes of a time-zone file cannot be used.
public struct ZoneError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The zone that was being read.
    public let zone: String
    /// What is wrong, in one lower-case phrase.
    public let reason: String

    /// An error about one zone.
    public init(zone: String, reason: String) {
        self.zone = zone
        self.reason = reason
    }

    /// The zone and the reason in one line.
    public var description: String { "time zone `\(zone)`: \(reason)" }
}

extension ZoneRules {
    /// The largest file that is read, in bytes; the largest of tzdata have about 4 KB.
    public static let maxFileSize = 1 << 20

    /// Reads a TZif file of version 2 or later (RFC 9636), with its yearly rule.
    ///
    /// - Parameters:
    ///   - name: kept as ``name`` and named in errors.
    ///   - bytes: the whole file. Malformed bytes of any kind throw; none can trap.
    public convenience init(name: String, tzif bytes: [UInt8]) throws(ZoneError) {
        var reader = TZifReader(zone: name, bytes: bytes)
        let file = try reader.read()
        self.init(
            name: name, changes: file.changes, offsets: file.offsets, firstOffset: file.firstOffset,
            rule: file.rule)
    }
}

/// What a file says, checked.
private struct TZifFile {
    var changes: [Int64] = []
    var offsets: [Int32] = []
    var firstOffset: Int32 = 0
    var rule: PosixZoneRule?
}

private struct TZifReader {
    /// The counts in a header, each checked against what follows before it is used.
    struct Header {
        var version: UInt8
        var utIndicators, standardIndicators, leapSeconds, changes, types, characters: Int

        /// The size of the block behind the header, with times of so many bytes.
        func blockSize(timeSize: Int) -> Int {
            changes * (timeSize + 1) + types * 6 + characters + leapSeconds * (timeSize + 4)
                + standardIndicators + utIndicators
        }
    }

    let zone: String
    let bytes: [UInt8]
    var index = 0

    init(zone: String, bytes: [UInt8]) {
        self.zone = zone
        self.bytes = bytes
    }

    mutating func read() throws(ZoneError) -> TZifFile {
        guard bytes.count <= ZoneRules.maxFileSize else {
            throw error("larger than \(ZoneRules.maxFileSize) bytes")
        }
        let first = try header()
        guard first.version >= UInt8(ascii: "2") else {
            throw error("TZif version 1 has no 64-bit times; version 2 or later is needed")
        }
        try skip(first.blockSize(timeSize: 4))
        let header = try header()
        let block = index
        try skip(header.blockSize(timeSize: 8))
        guard header.types >= 1, header.types <= 256 else {
            throw error("\(header.types) local time types; 1 to 256 are allowed")
        }
        guard header.leapSeconds == 0 else {
            throw error("counts leap seconds, which this time line does not have")
        }
        var file = try body(header, at: block)
        file.rule = try footer()
        return file
    }

    private func error(_ reason: String) -> ZoneError { ZoneError(zone: zone, reason: reason) }

    private mutating func skip(_ count: Int) throws(ZoneError) {
        // Six counts below 2^32 times at most 12 bytes cannot overflow an Int.
        guard count <= bytes.count - index else { throw error("cut short") }
        index += count
    }

    private mutating func header() throws(ZoneError) -> Header {
        let start = index
        try skip(44)
        guard bytes[start..<start + 4].elementsEqual("TZif".utf8) else {
            throw error("not a TZif file")
        }
        func count(_ place: Int) -> Int { Int(bigEndian(at: start + 20 + place * 4, count: 4)) }
        return Header(
            version: bytes[start + 4], utIndicators: count(0), standardIndicators: count(1),
            leapSeconds: count(2), changes: count(3), types: count(4), characters: count(5))
    }

    /// Reads a number; the caller has checked that it lies inside.
    private func bigEndian(at start: Int, count: Int) -> UInt64 {
        bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func body(_ header: Header, at start: Int) throws(ZoneError) -> TZifFile {
        let indexes = start + header.changes * 8
        let types = indexes + header.changes
        var offsets: [Int32] = []
        for type in 0..<header.types {
            let raw = UInt32(truncatingIfNeeded: bigEndian(at: types + type * 6, count: 4))
            let offset = Int32(bitPattern: raw)
            guard offset.magnitude <= ZoneRules.maxOffset else {
                throw error("an offset of \(offset) seconds; at most 26 hours are allowed")
            }
            offsets.append(offset)
        }
        var file = TZifFile(firstOffset: offsets[0])
        file.changes.reserveCapacity(header.changes)
        for change in 0..<header.changes {
            let time = Int64(bitPattern: bigEndian(at: start + change * 8, count: 8))
            if let last = file.changes.last, time <= last {
                throw error("change \(change) is not after the one before it")
            }
            let type = Int(bytes[indexes + change])
            guard type < offsets.count else {
                throw error("change \(change) names local time type \(type), which is not there")
            }
            file.changes.append(time)
            file.offsets.append(offsets[type])
        }
        return file
    }

    private func footer() throws(ZoneError) -> PosixZoneRule? {
        let newline = UInt8(ascii: "\n")
        guard index < bytes.count, bytes[index] == newline,
            let end = bytes[(index + 1)...].firstIndex(of: newline)
        else { throw error("no rule between line breaks at its end") }
        let text = bytes[index + 1..<end]
        if text.isEmpty { return nil }
        guard let rule = PosixZoneRule(text) else {
            throw error("unreadable rule `\(String(decoding: text, as: UTF8.self))`")
        }
        return rule
    }
}

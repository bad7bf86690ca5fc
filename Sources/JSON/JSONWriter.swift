/// Writes JSON without white space into a growing buffer.
///
/// What is written is canonical when the caller writes members in the byte order of their
/// names: strings escape only what they must, integers are plain, doubles are the shortest
/// text that reads back the same and always carry a point or an exponent.
public struct JSONWriter: ~Copyable {
    // Memory of our own rather than an array: an array checks at each byte whether it is
    // shared, and a request writes some three thousand of them.
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    private var needsComma = false

    /// An empty buffer with room for that many bytes.
    public init(capacity: Int = 512) {
        self.capacity = max(capacity, 64)
        memory = .allocate(capacity: self.capacity)
    }

    deinit { memory.deallocate() }

    /// Begins anew, with the memory that there is.
    public mutating func removeAll() {
        count = 0
        needsComma = false
    }

    /// What has been written.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            buffer.baseAddress?.initialize(from: memory, count: count)
            filled = count
        }
    }

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// The name of the next member; it must need no escape.
    public mutating func key(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        separate()
        put(UInt8(ascii: "\""))
        memory.advanced(by: count).initialize(from: name.utf8Start, count: length)
        count += length
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The name of the next member.
    public mutating func key(_ name: String) {
        string(name)
        reserve(1)
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A string.
    public mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { text in
            reserve(text.count + 3)
            separate()
            put(UInt8(ascii: "\""))
            putEscaped(text)
            put(UInt8(ascii: "\""))
        }
    }

    /// A string of ASCII that needs no escape.
    public mutating func string(_ value: StaticString) {
        string(room: value.utf8CodeUnitCount) { memory in
            memory.initialize(from: value.utf8Start, count: value.utf8CodeUnitCount)
            return value.utf8CodeUnitCount
        }
    }

    /// A string of ASCII that needs no escape and has at most `room` bytes; `make` writes it
    /// and says how many it has.
    public mutating func string(room: Int, making make: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(room + 3)
        separate()
        put(UInt8(ascii: "\""))
        count += min(make(memory + count), room)
        put(UInt8(ascii: "\""))
    }

    /// An integer.
    public mutating func int(_ value: Int64) {
        reserve(22)
        separate()
        if value < 0 { put(UInt8(ascii: "-")) }
        putDecimal(value.magnitude)
    }

    /// An integer.
    public mutating func int(_ value: Int) { int(Int64(value)) }

    /// An integer above `Int64.max`, or any other that is not negative.
    public mutating func uint(_ value: UInt64) {
        reserve(22)
        separate()
        putDecimal(value)
    }

    /// A double; `null` if it is not finite, which JSON cannot say.
    public mutating func double(_ value: Double) {
        if value.isFinite { text(value.description) } else { null() }
    }

    /// A truth value.
    public mutating func bool(_ value: Bool) { text(value ? "true" : "false") }

    /// Null.
    public mutating func null() { text("null") }

    /// A whole value that is JSON text already.
    public mutating func raw(_ text: [UInt8]) {
        reserve(text.count + 1)
        separate()
        text.withUnsafeBufferPointer { put($0) }
    }

    /// A whole value, members in their own order.
    public mutating func value(_ value: JSONValue) { write(value, sorted: false) }

    /// A whole value, members in the byte order of their names.
    public mutating func canonical(_ value: JSONValue) { write(value, sorted: true) }

    private mutating func write(_ value: JSONValue, sorted: Bool) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .int(let value): int(value)
        case .uint(let value): uint(value)
        case .double(let value): double(value)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { write(element, sorted: sorted) }
            endArray()
        case .object(let object):
            beginObject()
            for member in sorted ? object.sorted : object.members {
                key(member.key)
                write(member.value, sorted: sorted)
            }
            endObject()
        }
    }

    // MARK: Bytes

    /// Makes room. Whoever calls `put` has made room for it.
    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    private mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count &+= 1
    }

    private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        (memory + count).initialize(from: start, count: bytes.count)
        count += bytes.count
    }

    private mutating func open(_ byte: UInt8) {
        reserve(2)
        separate()
        put(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        reserve(1)
        put(byte)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// ASCII that is a value by itself.
    private mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text in
            reserve(text.count + 1)
            separate()
            put(text)
        }
    }

    private mutating func putDecimal(_ value: UInt64) {
        var divisor: UInt64 = 1
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    /// Eight bytes at a time as long as none of them needs an escape.
    private mutating func putEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        guard let start = text.baseAddress else { return }
        let source = UnsafeRawPointer(start)
        var index = 0
        while index < text.count {
            if index + 8 <= text.count {
                let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if !Self.needsEscape(word) {
                    UnsafeMutableRawPointer(memory + count).storeBytes(of: word, as: UInt64.self)
                    count &+= 8
                    index &+= 8
                    continue
                }
            }
            let byte = text[index]
            index &+= 1
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                put(byte)
            } else {
                // The escape, the rest of the text, the closing quote.
                reserve(6 + text.count - index + 1)
                putEscape(byte)
            }
        }
    }

    /// Whether any of eight bytes is a control character, a quote or a backslash: a byte that
    /// is below 0x20, or is zero once XORed with the character looked for, borrows in a
    /// subtraction. May say yes for nothing, never no.
    private static func needsEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs = ones &* 0x80
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let low = (word &- ones &* 0x20) & ~word
        let quote = (quotes &- ones) & ~quotes
        let backslash = (backslashes &- ones) & ~backslashes
        return (low | quote | backslash) & highs != 0
    }

    private mutating func putEscape(_ byte: UInt8) {
        put(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte)
        case 0x08: put(UInt8(ascii: "b"))
        case 0x09: put(UInt8(ascii: "t"))
        case 0x0A: put(UInt8(ascii: "n"))
        case 0x0C: put(UInt8(ascii: "f"))
        case 0x0D: put(UInt8(ascii: "r"))
        default:
            for digit in [0x75, 0x30, 0x30, Self.hex(byte >> 4), Self.hex(byte & 15)] { put(digit) }
        }
    }

    private static func hex(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

extension String {
    /// Whether its UTF-8 comes before another's, byte by byte. (`<` compares characters.)
    func isBefore(_ other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in left.lexicographicallyPrecedes(right) }
        }
    }
}

extension JSONValue {
    /// The canonical text: no white space, members in the byte order of their names.
    public var canonicalBytes: [UInt8] {
        var writer = JSONWriter()
        writer.canonical(self)
        return writer.bytes
    }

    /// The text, members in their own order.
    public var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

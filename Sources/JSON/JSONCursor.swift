import CSimdjson
import Glibc

/// A place in a parsed document, for reading a few things out of many documents without making
/// values of all the rest.
///
/// Unlike ``JSONReader/parse(_:limits:)`` it does not refuse names that occur twice: it is for what
/// the program wrote itself. Valid only within the closure it is handed to, on that thread.
public struct JSONCursor {
    fileprivate let document: discern_json_document
    fileprivate let index: Int

    private var word: UInt64 { document.tape[index] }
    private var type: UInt8 { UInt8(truncatingIfNeeded: word >> 56) }

    // MARK: Scalars

    /// Hands the bytes of a string to `body`; nil for anything else.
    public func withText<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R? {
        guard type == UInt8(ascii: "\"") else { return nil }
        return body(text(at: index))
    }

    /// The string, if it is one.
    public var string: String? { withText { String(decoding: $0, as: UTF8.self) } }

    /// The integer, if it is one that 64 bits hold.
    public var int: Int64? {
        switch type {
        case UInt8(ascii: "l"): Int64(bitPattern: document.tape[index + 1])
        case UInt8(ascii: "u"): Int64(exactly: document.tape[index + 1])
        default: nil
        }
    }

    /// The number, if it is one. An integer is rounded to the nearest double.
    public var double: Double? {
        switch type {
        case UInt8(ascii: "d"): Double(bitPattern: document.tape[index + 1])
        case UInt8(ascii: "u"): Double(document.tape[index + 1])
        default: int.map { Double($0) }
        }
    }

    /// The truth value, if it is one.
    public var bool: Bool? {
        type == UInt8(ascii: "t") ? true : type == UInt8(ascii: "f") ? false : nil
    }

    /// Whether it is a number with a fraction or an exponent.
    public var isDouble: Bool { type == UInt8(ascii: "d") }

    /// Whether the text is exactly this one.
    public func isText(_ name: StaticString) -> Bool {
        type == UInt8(ascii: "\"") && isText(at: index, name)
    }

    /// Whether the text has exactly these bytes.
    public func isText(_ text: String) -> Bool {
        withText { bytes in
            bytes.count == text.utf8.count
                && text.utf8.withContiguousStorageIfAvailable { Self.same(bytes, $0) }
                    ?? bytes.elementsEqual(text.utf8)
        } ?? false
    }

    /// Whether so many bytes are the same; both buffers have the same length.
    private static func same(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return memcmp(first, second, left.count) == 0
    }

    // MARK: Containers

    /// Whether it is an object.
    public var isObject: Bool { type == UInt8(ascii: "{") }
    /// Whether it is null.
    public var isNull: Bool { type == UInt8(ascii: "n") }
    /// Whether it is an array.
    public var isArray: Bool { type == UInt8(ascii: "[") }

    /// How many members or elements a container has; 0 for a scalar. simdjson counts them up to
    /// 16,777,215.
    public var count: Int {
        type == UInt8(ascii: "{") || type == UInt8(ascii: "[") ? Int(word >> 32 & 0xFF_FFFF) : 0
    }

    /// The member of an object; nil if there is none, or this is no object.
    public subscript(_ name: StaticString) -> JSONCursor? {
        guard type == UInt8(ascii: "{") else { return nil }
        var place = index + 1
        let end = closing
        while place < end {
            if isText(at: place, name) { return at(place + 1) }
            place = next(after: place + 1)
        }
        return nil
    }

    /// Hands the members of an object to `body`, in their order.
    public func forEachMember<E: Error>(
        _ body: (_ name: UnsafeBufferPointer<UInt8>, JSONCursor) throws(E) -> Void
    ) throws(E) {
        guard type == UInt8(ascii: "{") else { return }
        var place = index + 1
        let end = closing
        while place < end {
            try body(text(at: place), at(place + 1))
            place = next(after: place + 1)
        }
    }

    /// Hands the elements of an array to `body`, in their order.
    public func forEach<E: Error>(_ body: (JSONCursor) throws(E) -> Void) throws(E) {
        guard type == UInt8(ascii: "[") else { return }
        var place = index + 1
        let end = closing
        while place < end {
            try body(at(place))
            place = next(after: place)
        }
    }

    // MARK: The tape

    private func at(_ place: Int) -> JSONCursor { JSONCursor(document: document, index: place) }

    /// Where the closing word of a container stands.
    private var closing: Int { Int(UInt32(truncatingIfNeeded: word)) - 1 }

    private func next(after place: Int) -> Int {
        let word = document.tape[place]
        switch UInt8(truncatingIfNeeded: word >> 56) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return Int(UInt32(truncatingIfNeeded: word))
        case UInt8(ascii: "l"), UInt8(ascii: "u"), UInt8(ascii: "d"): return place + 2
        default: return place + 1
        }
    }

    private func text(at place: Int) -> UnsafeBufferPointer<UInt8> {
        let start = document.strings + Int(document.tape[place] & 0xFF_FFFF_FFFF_FFFF)
        let count = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        return UnsafeBufferPointer(start: start + 4, count: Int(count))
    }

    private func isText(at place: Int, _ name: StaticString) -> Bool {
        let bytes = text(at: place)
        return bytes.count == name.utf8CodeUnitCount
            && memcmp(bytes.baseAddress ?? name.utf8Start, name.utf8Start, bytes.count) == 0
    }
}

extension JSONReader {
    /// Parses a document and hands a cursor at its root to `body`.
    public static func withCursor<R>(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits = .default,
        _ body: (JSONCursor) throws -> R
    ) throws -> R {
        guard bytes.count <= limits.bytes, bytes.count > 0, let start = bytes.baseAddress else {
            throw bytes.isEmpty
                ? JSONError(
                    code: .empty, pointer: "", offset: 0, message: "the document is empty")
                : JSONError(
                    code: .tooLarge, pointer: "", offset: limits.bytes,
                    message:
                        "the document has \(bytes.count) bytes; at most \(limits.bytes) are read")
        }
        var document = discern_json_document()
        let status = discern_json_parse(
            start.assumingMemoryBound(to: UInt8.self), bytes.count, limits.depth + 1, &document)
        guard status == 0 else { throw JSONFault.find(in: bytes, depth: limits.depth) }
        return try body(JSONCursor(document: document, index: 1))
    }
}

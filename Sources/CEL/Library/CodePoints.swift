import CRE2

/// UTF-8 counted by code points.
enum CodePoints {
    static func count(_ bytes: UnsafeRawBufferPointer) -> Int {
        bytes.reduce(into: 0) { count, byte in
            if byte & 0xC0 != 0x80 { count += 1 }
        }
    }

    /// The offset in bytes of a code point; the end for the one after the last; else nil.
    static func offset(of index: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        if index == 0 { return 0 }
        guard index > 0 else { return nil }
        var seen = -1
        for (offset, byte) in bytes.enumerated() where byte & 0xC0 != 0x80 {
            seen += 1
            if seen == index { return offset }
        }
        return seen + 1 == index ? bytes.count : nil
    }

    /// How many bytes the code point at an offset has; nothing at the end.
    static func width(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard offset < bytes.count else { return 0 }
        var end = offset + 1
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return end - offset
    }

    /// The first place of a part at or after an offset. Linear for all that is in practice
    /// searched for; the cost limit bounds the rest.
    static func find(
        _ part: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from start: Int = 0
    ) -> Int? {
        if part.isEmpty { return start <= bytes.count ? start : nil }
        guard let text = bytes.baseAddress, let wanted = part.baseAddress, start < bytes.count
        else {
            return nil
        }
        let found = cre2_find_plain(text + start, bytes.count - start, wanted, part.count)
        return found < 0 ? nil : found + start
    }

    static func findLast(
        _ part: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        var place = min(start, bytes.count - part.count)
        while place >= 0 {
            if bytes[place..<place + part.count].elementsEqual(part) { return place }
            place -= 1
        }
        return nil
    }
}

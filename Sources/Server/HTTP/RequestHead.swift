import CMicroHTTPD

/// What the server needs of a request's headers, gathered in one pass without copying the rest.
struct RequestHead {
    var authorization: String?
    var contentType: String?
    /// Nil if there is none, or it cannot be read.
    var contentLength: Int?
    var expectsContinue = false

    private var headers = 0
    private var authorizations = 0
    private var lengths = 0
    private var lengthIsMalformed = false
    private var transferEncodings = 0

    /// Reads the headers of a request whose head has arrived.
    static func read(_ connection: OpaquePointer) -> RequestHead {
        var head = RequestHead()
        withUnsafeMutablePointer(to: &head) { pointer in
            _ = MHD_get_connection_values_n(
                connection, MHD_ValueKind.HEADER_KIND, takeHeader, pointer)
        }
        return head
    }

    /// Why the request cannot be read in one way only, or is beyond a limit; nil if it is fine.
    func refusal(_ limits: ServerLimits) -> Problem? {
        if headers > limits.headerCount {
            return Problem(
                .headersTooLarge, detail: "More than \(limits.headerCount) headers.")
        }
        // Two lengths, or a length and a chunked body, are read differently by different servers:
        // one request to a proxy, two to us (RFC 9112, section 6.3).
        if lengths > 1 || lengthIsMalformed {
            return Problem(.malformedRequest, detail: "Content-Length must be one plain number.")
        }
        if lengths > 0 && transferEncodings > 0 {
            return Problem(
                .malformedRequest,
                detail: "Content-Length and Transfer-Encoding exclude each other.")
        }
        if authorizations > 1 {
            return Problem(.malformedRequest, detail: "More than one Authorization header.")
        }
        return nil
    }

    fileprivate mutating func take(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) {
        headers += 1
        // By length first: of the usual dozen headers, few get as far as a comparison.
        switch name.count {
        case 6 where name.isSame("expect"):
            expectsContinue = value.isSame("100-continue")
        case 12 where name.isSame("content-type"):
            contentType = String(decoding: value, as: UTF8.self)
        case 13 where name.isSame("authorization"):
            authorizations += 1
            authorization = String(decoding: value, as: UTF8.self)
        case 14 where name.isSame("content-length"):
            lengths += 1
            contentLength = decimal(value)
            if contentLength == nil { lengthIsMalformed = true }
        case 17 where name.isSame("transfer-encoding"):
            transferEncodings += 1
        default:
            break
        }
    }

    private func decimal(_ text: UnsafeRawBufferPointer) -> Int? {
        guard !text.isEmpty, text.count <= 18 else { return nil }  // 18 digits cannot overflow
        var value = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}

private let takeHeader: MHD_KeyValueIteratorN = { head, _, name, nameSize, value, valueSize in
    guard let head, let name else { return .YES }
    head.assumingMemoryBound(to: RequestHead.self).pointee.take(
        name: UnsafeRawBufferPointer(start: name, count: nameSize),
        value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize))
    return .YES
}

extension UnsafeRawBufferPointer {
    /// Whether these are the letters of `lower`, in either case.
    fileprivate func isSame(_ lower: StaticString) -> Bool {
        guard count == lower.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            var byte = self[index]
            if byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z") { byte |= 0x20 }
            if byte != lower.utf8Start[index] { return false }
        }
        return true
    }
}

/// The network extension: addresses and blocks as values.
extension Machine {
    mutating func network(_ builtin: Builtin, _ a: Arguments) -> Cell {
        switch (builtin, a.count) {
        case (.ip, 1) where a[0].tag == .cidr:
            var address = a[0]
            address.tag = .ip
            address.extra = 0
            return address
        case (.ip, 1) where a[0].tag == .string: return parsed(a[0], isBlock: false)
        case (.cidr, 1) where a[0].tag == .string: return parsed(a[0], isBlock: true)
        case (.isIP, 1) where a[0].tag == .string: return .bool(isValid(a[0], isBlock: false))
        case (.isCIDR, 1) where a[0].tag == .string: return .bool(isValid(a[0], isBlock: true))
        case (.ipIsCanonical, 1) where a[0].tag == .string:
            let address = parsed(a[0], isBlock: false)
            return address.isError ? address : .bool(NetworkText.text(address) == a[0].text)
        case (.prefixLength, 1) where a[0].tag == .cidr: return .int(Int(a[0].extra))
        case (.masked, 1) where a[0].tag == .cidr: return masked(a[0])
        case (.containsIP, 2), (.containsCIDR, 2):
            guard a[0].tag == .cidr else { break }
            let isBlock = builtin == .containsCIDR
            let other = a[1].tag == .string ? parsed(a[1], isBlock: isBlock) : a[1]
            if other.isError { return other }
            guard other.tag == (isBlock ? .cidr : .ip) else { break }
            let bits = isBlock ? Int(other.extra) : other.count * 8
            return .bool(Int(a[0].extra) <= bits && Self.agree(a[0], other))
        case (_, 1) where a[0].tag == .ip: return property(builtin, a)
        default: break
        }
        return noOverload(builtin, a)
    }

    private mutating func parsed(_ cell: Cell, isBlock: Bool) -> Cell {
        let what = isBlock ? "CIDR block" : "IP address"
        do throws(NetworkText.Fault) {
            guard cell.count <= NetworkText.longest else { throw .malformed }
            let address =
                isBlock ? try NetworkText.block(cell.text) : try NetworkText.address(cell.text)
            return arena.network(address) ?? outOfMemory()
        } catch .zone {
            return self.error(.invalidArgument, "a zone is not allowed in an \(what)")
        } catch .mapped {
            return self.error(.invalidArgument, "an IPv4 address within IPv6 is not allowed here")
        } catch {
            return self.error(.invalidArgument, "\(Self.shown(cell)) is no \(what)")
        }
    }

    private func isValid(_ cell: Cell, isBlock: Bool) -> Bool {
        guard cell.count <= NetworkText.longest else { return false }
        return NetworkText.parse(cell.text).map { ($0.prefix != nil) == isBlock } ?? false
    }

    /// IPv4 within IPv6 counts as IPv4.
    private static func unmapped(_ cell: Cell) -> UnsafeRawBufferPointer {
        NetworkText.isMapped(Array(cell.bytes))
            ? UnsafeRawBufferPointer(rebasing: cell.bytes[12...]) : cell.bytes
    }

    static func isSameAddress(_ left: Cell, _ right: Cell) -> Bool {
        unmapped(left).elementsEqual(unmapped(right))
    }

    /// Whether an address has the first bits of a block.
    private static func agree(_ block: Cell, _ other: Cell) -> Bool {
        let address = other.tag == .ip ? unmapped(other) : other.bytes
        guard address.count == block.count else { return false }
        return (0..<block.count).allSatisfy { index in
            let mask = self.mask(index, prefix: Int(block.extra))
            return (block.bytes[index] ^ address[index]) & mask == 0
        }
    }

    private static func mask(_ index: Int, prefix: Int) -> UInt8 {
        let bits = min(8, max(0, prefix - 8 * index))
        return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
    }

    private mutating func masked(_ cell: Cell) -> Cell {
        var block = makeBytes(.cidr, cell.count) { target in
            for (index, byte) in cell.bytes.enumerated() {
                target[index] = byte & Self.mask(index, prefix: Int(cell.extra))
            }
        }
        if !block.isError { block.extra = cell.extra }
        return block
    }

    private mutating func property(_ builtin: Builtin, _ a: Arguments) -> Cell {
        let bytes = Self.unmapped(a[0])
        let isFour = bytes.count == 4
        let isUnspecified = bytes.allSatisfy { $0 == 0 }
        let isLoopback =
            isFour ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        let isLinkLocal =
            isFour
            ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        let isMulticast = isFour ? bytes[0] & 0xF0 == 0xE0 : bytes[0] == 0xFF
        switch builtin {
        case .family: return .int(isFour ? 4 : 6)
        case .isUnspecified: return .bool(isUnspecified)
        case .isLoopback: return .bool(isLoopback)
        case .isLinkLocalUnicast: return .bool(isLinkLocal)
        case .isLinkLocalMulticast:
            return .bool(
                isFour
                    ? bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0
                    : bytes[0] == 0xFF && bytes[1] & 0x0F == 2)
        case .isGlobalUnicast:
            let isBroadcast = isFour && bytes.allSatisfy { $0 == 255 }
            return .bool(
                !isUnspecified && !isLoopback && !isLinkLocal && !isMulticast && !isBroadcast)
        default: return noOverload(builtin, a)
        }
    }
}

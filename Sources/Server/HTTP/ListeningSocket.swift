import Glibc

/// A bound socket that listens.
///
/// Ours rather than libmicrohttpd's, since only so can the port it was given be read from Swift.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32
    /// What it is bound to, with the port the system chose if 0 was asked for.
    let address: SocketAddress

    init(_ address: SocketAddress, backlog: Int) throws(HTTPServer.StartError) {
        let descriptor = socket(
            address.family,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket", errno) }
        var one: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, Int32(clamping: backlog)) == 0
        else {
            let code = errno
            close(descriptor)
            throw .system("bind \(address)", code)
        }
        var bound = address
        bound.withMutablePointer { pointer, length in
            var length = length
            _ = getsockname(descriptor, pointer, &length)
        }
        self.descriptor = descriptor
        self.address = bound
    }

    deinit { close(descriptor) }
}

/// A numeric IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
    private var storage: Storage

    private enum Storage: Sendable {
        case v4(sockaddr_in)
        case v6(sockaddr_in6)
    }

    /// Reads `127.0.0.1:8080` or `[::1]:8080`; nil if the text is neither. Names are not looked
    /// up: what a server listens on should not depend on DNS.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address.sin6_addr) == 1
            else { return nil }
            storage = .v6(address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            guard inet_pton(AF_INET, String(host), &address.sin_addr) == 1 else { return nil }
            storage = .v4(address)
        }
    }

    /// The port, 0 for "any free one".
    public var port: UInt16 {
        switch storage {
        case .v4(let address): UInt16(bigEndian: address.sin_port)
        case .v6(let address): UInt16(bigEndian: address.sin6_port)
        }
    }

    /// Whether only this machine can reach it: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        switch storage {
        case .v4(let address): UInt32(bigEndian: address.sin_addr.s_addr) >> 24 == 127
        case .v6: host == "::1"
        }
    }

    /// The address without the port, and without brackets.
    public var host: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch storage {
        case .v4(var address):
            _ = inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count))
        case .v6(var address):
            _ = inet_ntop(AF_INET6, &address.sin6_addr, &text, socklen_t(text.count))
        }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// As it is read, and as it stands in a URL.
    public var description: String {
        switch storage {
        case .v4: "\(host):\(port)"
        case .v6: "[\(host)]:\(port)"
        }
    }

    /// The same host and port.
    public static func == (left: SocketAddress, right: SocketAddress) -> Bool {
        left.description == right.description
    }

    var family: Int32 {
        switch storage {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var copy = self
        return copy.withMutablePointer { body($0, $1) }
    }

    mutating func withMutablePointer<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        func run<Address>(_ address: inout Address) -> Result {
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        switch storage {
        case .v4(var address):
            defer { storage = .v4(address) }
            return run(&address)
        case .v6(var address):
            defer { storage = .v6(address) }
            return run(&address)
        }
    }
}

import Engine
import JSON
import Ledger

/// Decides who makes a request, and whether they may.
public struct Authenticator: Sendable {
    private let directory: any KeyDirectory
    /// No key is longer; nobody gets to have megabytes hashed.
    private static let longestKey = 512

    /// An authenticator over a directory of keys.
    public init(_ directory: any KeyDirectory) { self.directory = directory }

    /// Who asks, if the row of the route table lets them; nil where no key is needed.
    public func principal(
        _ authorization: String?, for access: Route.Access
    ) throws(Problem) -> Principal? {
        guard let scope = access.scope else { return nil }
        guard let authorization else { throw Self.unauthenticated("No Authorization header.") }
        guard let key = Self.bearer(authorization) else {
            throw Self.unauthenticated("The header must read 'Authorization: Bearer <key>'.")
        }
        guard let principal = directory.principal(for: SHA256.hash(key)) else {
            throw Self.unauthenticated("The key is not known here, or was revoked.")
        }
        try Self.admit(principal, to: access, scope)
        return principal
    }

    private static func admit(
        _ principal: Principal, to access: Route.Access, _ scope: Scope
    ) throws(Problem) {
        switch access {
        case .app where principal.tenant == nil:
            throw Problem(.operatorOnly, detail: "This call needs the key of an app.")
        case .operators where principal.tenant != nil:
            throw Problem(.operatorOnly, detail: "This call needs the key of an operator.")
        default: break
        }
        guard principal.scopes.contains(scope) else {
            throw Problem(
                .insufficientScope, detail: "This call needs the scope '\(scope.rawValue)'.",
                allowed: [.string(scope.rawValue)])
        }
    }

    private static func unauthenticated(_ detail: String) -> Problem {
        var problem = Problem(.unauthenticated, detail: detail)
        problem.headers = [HTTPResponse.Header("WWW-Authenticate", "Bearer")]
        return problem
    }

    /// The key of a header; the scheme's case does not matter (RFC 9110, section 11.1).
    private static func bearer(_ header: String) -> [UInt8]? {
        let scheme: StaticString = "bearer "
        let length = scheme.utf8CodeUnitCount
        var header = header
        return header.withUTF8 { bytes -> [UInt8]? in
            guard bytes.count > length, bytes.count <= longestKey else { return nil }
            for index in 0..<length {
                let byte = bytes[index]
                let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
                guard (isUpper ? byte | 0x20 : byte) == scheme.utf8Start[index] else { return nil }
            }
            var start = length
            while start < bytes.count, bytes[start] == UInt8(ascii: " ") { start += 1 }
            guard start < bytes.count else { return nil }
            for index in start..<bytes.count where bytes[index] <= 0x20 || bytes[index] >= 0x7F {
                return nil
            }
            return Array(bytes[start...])
        }
    }
}

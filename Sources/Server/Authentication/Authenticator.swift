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
        let scheme = "bearer "
        let bytes = header.utf8
        guard bytes.count > scheme.utf8.count, bytes.count <= longestKey else { return nil }
        for (byte, letter) in zip(bytes, scheme.utf8) {
            let lower = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
            guard lower == letter else { return nil }
        }
        let key = bytes.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: " ") }
        guard !key.isEmpty, key.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return Array(key)
    }
}

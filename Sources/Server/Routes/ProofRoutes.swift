import Engine
import JSON
import Ledger

/// Signed checkpoints of the ledger, and proofs against them.
struct ProofRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [inclusion, consistency, latest, make] }

    private static let size = Field.optional(
        "size", .integer(1...Int64.max),
        "Against the root of so many entries; those of the latest checkpoint unless said otherwise."
    )

    private var inclusion: Endpoint {
        var route = Route(
            .get, "/v1/audit/entries/{sequence}/proof", name: "getInclusionProof",
            summary: "The proof that an entry is in the ledger.", access: .appOrOperators(.audit))
        route.query = [Self.size]
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let text = call.parameters["sequence"] ?? ""
            let size = try Self.size(call.query["size"], "size", backend)
            responder.answer(
                try Self.answer(backend) { () throws in
                    guard let sequence = Int64(text), sequence > 0,
                        let entry = try backend.ledger.entry(sequence),
                        call.principal?.tenant == nil || call.principal?.tenant == entry.tenant
                    else { throw Problem(.notFound, field: "/sequence", value: .string(text)) }
                    guard sequence <= size else {
                        throw Problem(
                            .invalidValue,
                            detail: "The entry is not among the first \(size) entries.",
                            field: "size", value: .int(Int64(clamping: size)),
                            allowed: [.string("\(sequence) or more, up to the ledger's size")])
                    }
                    return try backend.ledger.inclusion(of: UInt64(sequence), size: size)
                })
        }
    }

    private var consistency: Endpoint {
        var route = Route(
            .get, "/v1/audit/consistency", name: "getConsistencyProof",
            summary: "The proof that the ledger only grew between two sizes.",
            access: .appOrOperators(.audit))
        route.query = [
            .required("from", .integer(1...Int64.max), "The smaller size."),
            .optional(
                "to", .integer(1...Int64.max), "The larger one; that of the latest checkpoint."),
        ]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let to = try Self.size(call.query["to"], "to", backend)
            let from = try Self.size(call.query["from"], "from", backend)
            guard from <= to else {
                throw Problem(
                    .invalidValue, detail: "A ledger of \(to) entries has no \(from).",
                    field: "from", allowed: [.string("1 to \(to)")])
            }
            responder.answer(
                try Self.answer(backend) { () throws in
                    try backend.ledger.consistency(from: from, to: to)
                })
        }
    }

    private var latest: Endpoint {
        var route = Route(
            .get, "/v1/audit/checkpoint", name: "getCheckpoint",
            summary: "The latest signed checkpoint of the ledger.",
            access: .appOrOperators(.audit))
        route.problems = [.notFound]
        return Endpoint(route) { [backend] _, responder throws(Problem) in
            guard let latest = backend.checkpoints.latest else {
                throw Problem(.notFound, detail: "There is no checkpoint yet.")
            }
            responder.answer(Self.answer(latest, backend))
        }
    }

    private var make: Endpoint {
        var route = Route(
            .post, "/v1/audit/checkpoint", name: "makeCheckpoint",
            summary: "Makes a signed checkpoint of all that is stored.",
            access: .operators(.audit))
        route.problems = [.unavailable]
        let background = Background()
        return Endpoint(route) { [backend] _, responder throws(Problem) in
            try background.answer(responder) {
                do {
                    return Self.answer(try backend.checkpoints.make(), backend)
                } catch {
                    return Problem(.serverError, detail: "\(error)").response
                }
            }
        }
    }

    /// A size of the query, or the latest checkpoint's; at most the ledger's.
    private static func size(
        _ text: String?, _ name: String, _ backend: Backend
    ) throws(Problem) -> UInt64 {
        guard let text else {
            guard let latest = backend.checkpoints.latest else {
                throw Problem(
                    .missingField, detail: "There is no checkpoint yet: name a size.", field: name)
            }
            return latest.checkpoint.size
        }
        let most = backend.engine.committedSize
        guard let size = UInt64(text), size <= most else {
            throw Problem(
                .invalidValue, detail: "The ledger has \(most) entries.", field: name,
                value: .string(text), allowed: [.string("1 to \(most)")])
        }
        return size
    }

    private static func answer(
        _ backend: Backend, _ proof: () throws -> ProofDocument
    ) throws(Problem) -> HTTPResponse {
        do {
            let proof = try proof()
            let notes = [backend.checkpoints.latest].compactMap(\.self).filter { latest in
                proof.roots.contains {
                    $0.size == latest.checkpoint.size && $0.root == latest.checkpoint.root
                }
            }
            return HTTPResponse(status: 200, body: proof.bytes(with: notes))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.serverError, detail: "\(error)")
        }
    }

    private static func answer(_ signed: SignedCheckpoint, _ backend: Backend) -> HTTPResponse {
        .object { writer in
            writer.member("checkpoint", signed.note.note)
            writer.member("key", backend.checkpoints.verifier.description)
            writer.member("origin", signed.checkpoint.origin)
            writer.member("root", signed.checkpoint.root.hex)
            writer.key("size")
            writer.int(Int64(clamping: signed.checkpoint.size))
        }
    }
}

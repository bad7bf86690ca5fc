import Engine
import JSON
import Time

/// What was recorded, as audits see it.
struct AuditRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [list, entry, pseudonym] }

    private var list: Endpoint {
        var route = Route(
            .get, "/v1/audit/entries", name: "getEntries",
            summary: "Entries of the ledger; a key sees its own app and environment.",
            access: .appOrOperators(.audit))
        route.query = [
            .optional(
                "filter", .string(maxBytes: AuditFilter.sourceBytes),
                "Only what this CEL expression is true of."),
            .optional("since", .instant, "From this instant on."),
            .optional("until", .instant, "Up to this instant, itself included."),
            .optional("kind", .names(RecordKind.self)),
            .optional("subject", .string(maxBytes: 32), "A person's or device's pseudonym."),
            .optional("app", .string(maxBytes: 64), "For operators: of this app only."),
            .optional(
                "environment", .names(DataEnvironment.self),
                "For operators: of this environment only."),
            .optional("order", .choice(["ascending", "descending"])),
            .optional("limit", .integer(1...1_000), "100 unless said otherwise."),
            .optional("cursor", .string(maxBytes: 64), "`next` of the page before."),
        ]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let query = try Self.query(call)
            let page: EntryPage
            do {
                page = try backend.ledger.page(query)
            } catch let error as AuditFilterError {
                throw Self.problem(error)
            } catch {
                throw Problem(.serverError, detail: "\(error)")
            }
            responder.answer(
                .object(capacity: 1_024 * (page.entries.count + 1)) { writer in
                    writer.key("entries")
                    writer.beginArray()
                    for entry in page.entries { entry.writeAnswer(to: &writer) }
                    writer.endArray()
                    writer.key("examined")
                    writer.int(page.examined)
                    if let next = query.cursor(after: page) { writer.member("next", next.text) }
                    if page.isPartial {
                        writer.key("partial")
                        writer.bool(true)
                    }
                    writer.key("size")
                    writer.int(page.size)
                    writer.key("undecided")
                    writer.int(page.undecided)
                })
        }
    }

    /// What is wrong with a filter, and where.
    private static func problem(_ error: AuditFilterError) -> Problem {
        var problem = Problem(.invalidValue, detail: error.message, field: "filter")
        problem.members.append(("findings", error.findings))
        return problem
    }

    private static func query(_ call: Call) throws(Problem) -> EntryQuery {
        var query = EntryQuery()
        let own = call.principal?.tenant
        query.app = own?.app ?? call.query["app"]
        query.environment = own?.environment.rawValue ?? call.query["environment"]
        query.kind = call.query["kind"].flatMap(RecordKind.init(rawValue:))
        query.since = call.query["since"].flatMap { Instant(rfc3339: $0) }
        query.until = call.query["until"].flatMap { Instant(rfc3339: $0) }
        query.newestFirst = call.query["order"] == "descending"
        query.limit = call.query["limit"].flatMap { Int($0) } ?? 100
        query.budget = .call
        query.now = Engine.wallClock()
        if let text = call.query["cursor"] {
            guard let cursor = AuditCursor(text) else {
                throw Problem(
                    .invalidValue, field: "cursor", value: .string(text),
                    allowed: ["`next` of the page before"])
            }
            query.goOn(from: cursor)
        }
        if let text = call.query["filter"] {
            do { query.filter = try AuditFilter(text) } catch { throw problem(error) }
        }
        guard let text = call.query["subject"] else { return query }
        guard let pseudonym = Pseudonym(text) else {
            throw Problem(
                .invalidValue,
                detail: "Raw ids never stand in a URL; "
                    + "POST /v1/subjects/pseudonym gives the pseudonym.",
                field: "subject", allowed: ["a pseudonym of 32 hexadecimal digits"])
        }
        guard let app = query.app,
            let environment = query.environment.flatMap(DataEnvironment.init(rawValue:))
        else {
            throw Problem(
                .missingField, detail: "A person is known to one app in one environment.",
                field: query.app == nil ? "app" : "environment")
        }
        let tenant = Tenant(app: app, environment: environment)
        query.about = (pseudonym, EntityKey.all(about: pseudonym, of: tenant))
        return query
    }

    private var entry: Endpoint {
        var route = Route(
            .get, "/v1/audit/entries/{sequence}", name: "getEntry", summary: "One entry.",
            access: .appOrOperators(.audit))
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let text = call.parameters["sequence"] ?? ""
            do {
                guard let sequence = Int64(text), let entry = try backend.ledger.entry(sequence),
                    call.principal?.tenant == nil || call.principal?.tenant == entry.tenant
                else {
                    throw Problem(.notFound, field: "/sequence", value: .string(text))
                }
                var writer = JSONWriter(capacity: 2_048)
                entry.writeAnswer(to: &writer)
                responder.answer(HTTPResponse(status: 200, body: writer.bytes))
            } catch let problem as Problem {
                throw problem
            } catch {
                throw Problem(.serverError, detail: "\(error)")
            }
        }
    }

    private var pseudonym: Endpoint {
        var route = Route(
            .post, "/v1/subjects/pseudonym", name: "postPseudonym",
            summary: "Under which pseudonym a person or device is recorded.",
            access: .app(.audit))
        route.body = .object(
            [.optional("subject", .id), .optional("device", .id)], oneOf: ["subject", "device"])
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let pseudonym =
                if let id = call.body.text("subject") {
                    backend.pseudonymizer.subject(id, of: tenant)
                } else {
                    backend.pseudonymizer.device(call.body.text("device") ?? "", of: tenant)
                }
            responder.answer(.json(["pseudonym": .string(pseudonym.text)]))
        }
    }
}

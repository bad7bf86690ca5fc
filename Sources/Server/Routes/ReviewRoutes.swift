import Engine
import JSON
import Policies
import ReviewPrompts
import Time

/// Review prompts: donations, grants, and why not.
struct ReviewRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [donate, grant, status, reset, merge] }

    private static let donationFields: [Field] = [
        .required("reason", .id, "A reason, or an event, that the policy names."),
        .required("subject", .id), .required("device", .id),
        // An app that finds no version of its own says so with an empty one: it counts, and holds.
        .optional(
            "appVersion", .string(minBytes: 0, maxBytes: AppVersion.maxLength),
            "As the app shows it."),
        .required("distribution", .names(ReviewDistribution.self), "Where the app came from."),
        .optional("timeZone", .string(maxBytes: 64), "The person's zone: Europe/London, +05:30."),
        .optional("installedAt", .instant, "When the app was installed on the device."),
        .optional("attributes", .map(.scalar, max: 50), "What the policy's conditions may read."),
    ]

    private func donation(_ body: JSONValue, _ tenant: Tenant) throws(Problem)
        -> ReviewStatusCommand
    {
        guard let reason = body.text("reason"), let subject = body.text("subject"),
            let device = body.text("device"),
            let distribution = body.choice("distribution", ReviewDistribution.self)
        else { throw .unexpectedReply }
        return ReviewStatusCommand(
            reason: reason, subject: backend.pseudonymizer.subject(subject, of: tenant),
            device: backend.pseudonymizer.device(device, of: tenant),
            version: body.text("appVersion") ?? "", distribution: distribution,
            zone: body.text("timeZone"), occurredAt: body.instant("occurredAt"),
            installedAt: body.instant("installedAt"),
            attributes: body["attributes"]?.objectValue ?? [:])
    }

    /// What a retry must repeat: all of it.
    private func action(_ body: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.plain(body)
        return writer.bytes
    }

    private var donate: Endpoint {
        var route = Route(
            .post, "/v1/review-prompts/donations", name: "postDonation",
            summary: "Donate an event: is this the one right moment to ask for a review?",
            access: .app(.review))
        route.body = .object(
            [.required("idempotencyKey", .id, "The caller's id; a retry repeats it.")]
                + Self.donationFields
                + [.optional("occurredAt", .instant, "When it happened; now if left out.")])
        route.answers = [(201, "Decided."), (200, "The stored decision on the same donation.")]
        route.problems = [.contextInvalid, .idempotencyKeyReused, .clockSkew, .erased]
        return Endpoint(route) { call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let command = DonateCommand(
                idempotencyKey: call.body.text("idempotencyKey") ?? "",
                action: backend.pseudonymizer.action(action(call.body), tenant: tenant),
                donation: try donation(call.body, tenant))
            try backend.perform(.review(.donate(command)), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .review(.donated(let record, let state, let isReplay)) = reply.content
                else { throw .unexpectedReply }
                return .json(
                    status: isReplay ? 200 : 201,
                    record.answer(grantState: state, isReplay: isReplay))
            }
        }
    }

    private enum GrantOutcome: String, CaseIterable { case requested, notRequested }

    private var grant: Endpoint {
        var route = Route(
            .post, "/v1/review-prompts/grants/{id}", name: "postGrantOutcome",
            summary: "Say whether the app has asked, or gives the grant back.",
            access: .app(.review))
        route.body = .object([
            .required("outcome", .names(GrantOutcome.self)),
            .optional("reason", .string(maxBytes: ReviewPromptLimits.outcomeReason), "Why not."),
            .optional("subject", .id, "Whom the grant was given to; another one's is refused."),
        ])
        route.problems = [
            .notFound, .environmentMismatch, .subjectMismatch, .alreadyReported, .erased,
        ]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let outcome: ReviewOutcome =
                call.body.choice("outcome", GrantOutcome.self) == .requested
                ? .requested : .notRequested(reason: call.body.text("reason"))
            let tenant = try backend.tenant(of: call)
            let command = ReviewCommand.reportOutcome(
                grantID: call.parameters["id"] ?? "", outcome,
                subject: call.body.text("subject").map {
                    backend.pseudonymizer.subject($0, of: tenant)
                })
            try backend.perform(.review(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .review(.outcome(let grant, let state, let isReplay)) = reply.content,
                    case .object(var answer) = grant.answer(state: state)
                else { throw .unexpectedReply }
                answer["replayed"] = .bool(isReplay)
                return .json(.object(answer))
            }
        }
    }

    private var status: Endpoint {
        var route = Route(
            .post, "/v1/review-prompts/status", name: "postReviewStatus",
            summary: "Why not, and when: what a donation made now would get. Changes nothing.",
            access: .app(.review))
        route.body = .object(Self.donationFields)
        route.problems = [.contextInvalid]
        return Endpoint(route) { call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let command = ReviewCommand.status(try donation(call.body, tenant))
            try backend.perform(.review(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .review(.status(let status)) = reply.content else {
                    throw .unexpectedReply
                }
                return .json(status.answer)
            }
        }
    }

    private var reset: Endpoint {
        var route = Route(
            .post, "/v1/review-prompts/reset", name: "postReviewReset",
            summary: "Reset a person's counters. The record of prompts stays.",
            access: .app(.review))
        route.body = .object([.required("subject", .id)])
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let subject = backend.pseudonymizer.subject(
                call.body.text("subject") ?? "", of: tenant)
            try backend.perform(.review(.reset(subject: subject)), tenant: tenant, call, responder)
            { _ throws(Problem) in .json(["reset": true]) }
        }
    }

    private var merge: Endpoint {
        var route = Route(
            .post, "/v1/review-prompts/merge", name: "postReviewMerge",
            summary: "Make an install an alias of an account. Every counted prompt stays.",
            access: .app(.review))
        route.body = .object([
            .required("install", .id, "The subject used before sign-in."),
            .required("account", .id, "The subject used from now on."),
        ])
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let command = ReviewCommand.merge(
                install: backend.pseudonymizer.subject(
                    call.body.text("install") ?? "", of: tenant),
                account: backend.pseudonymizer.subject(
                    call.body.text("account") ?? "", of: tenant))
            try backend.perform(.review(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .review(.merged(let isReplay)) = reply.content else {
                    throw .unexpectedReply
                }
                return .json(["merged": true, "replayed": .bool(isReplay)])
            }
        }
    }
}

import Policies
import Time
import TrustInsights

/// What the trust flow knows of one person: a fold over the entries about them.
///
/// A class, so that a batch changes it in place; only the engine's thread touches it.
final class SubjectState {
    /// By category; absent is `notDetermined`.
    private(set) var authorizations: [Policies.Category: Authorization] = [:]
    /// Earlier evaluations, in order of time, as far back as any window reaches.
    private(set) var events = VelocityEvents()
    /// The requests behind `events`, in the same order.
    private var requests: [EntityKey] = []
    /// Refused requests: the only ones that may come again, and then count once.
    private var refusedRequests: Set<EntityKey> = []

    /// The events that count when a request is judged: all but its own earlier refusal.
    func events(judging request: EntityKey) -> VelocityEvents {
        refusedRequests.contains(request) ? events.removing(places(of: request)) : events
    }

    private func places(of request: EntityKey) -> [Int] {
        requests.indices.filter { requests[$0] == request }
    }

    /// The authorization for a category at an instant.
    func authorization(for category: Policies.Category, at now: Instant) -> (
        status: AuthorizationStatus, endsAt: Instant?
    ) {
        (authorizations[category] ?? Authorization()).status(at: now)
    }

    /// A status was reported.
    func apply(_ record: AuthorizationRecord) {
        authorizations[record.category, default: Authorization()].report(
            record.status, at: record.receivedAt, coolDown: record.coolDown)
    }

    /// An action was judged. Events older than `horizon` before it are forgotten.
    func apply(_ event: EvaluationEvent, request: EntityKey, horizon: Duration) {
        if refusedRequests.remove(request) != nil {
            events = events.removing(places(of: request))
            requests.removeAll { $0 == request }
        }
        if event.isRefused { refusedRequests.insert(request) }
        events.append(event.velocity)
        requests.append(request)
        forget(before: event.velocity.at - horizon)
    }

    /// Forgets in large steps: moving the list at every event would cost its length each time.
    private func forget(before start: Instant) {
        guard events.times[0] <= start else { return }
        let gone = events.times.firstIndex { $0 > start } ?? events.count
        guard gone * 2 >= events.count || gone >= 64 else { return }
        refusedRequests.subtract(requests[..<gone])
        events.removeFirst(gone)
        requests.removeFirst(gone)
    }
}

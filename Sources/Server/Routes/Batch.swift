import Engine
import JSON
import Synchronization

/// The results of a batch call, gathered until each item has one; then answered with 207.
///
/// Results are of what was stored: an item's success is set only from the engine's reply.
final class Batch: Sendable {
    private struct State: Sendable {
        /// What makes each.
        var results: [(@Sendable () -> HTTPResponse)?]
        var missing: Int
        var debt: Int64 = 0
    }

    private let state: Mutex<State>
    private let responder: Responder

    /// A batch of that many items, answered there.
    init(count: Int, responder: Responder) {
        state = Mutex(State(results: Array(repeating: nil, count: count), missing: count))
        self.responder = responder
    }

    /// The result of an item.
    func set(
        _ index: Int, debt: Int64 = 0, making result: @escaping @Sendable () -> HTTPResponse
    ) {
        let isComplete = state.withLock { state in
            if state.results[index] == nil { state.missing -= 1 }
            state.results[index] = result
            state.debt = max(state.debt, debt)
            return state.missing == 0
        }
        if isComplete { responder.answer(making: response) }
    }

    /// Hands the good items to the engine; without any, the answer is complete already.
    func submit(
        _ commands: [(index: Int, command: Command)], tenant: Tenant, _ call: Call,
        _ backend: Backend, answer: @escaping @Sendable (Reply) throws(Problem) -> HTTPResponse
    ) throws(Problem) {
        if commands.isEmpty {
            if state.withLock({ $0.results.isEmpty }) { responder.answer(making: response) }
            return
        }
        let actor = call.principal?.keyID ?? "unknown"
        let isTaken = backend.engine.submitAll(
            commands.map { Submission(tenant: tenant, actor: actor, command: $0.command) }
        ) { place, reply in
            // The commands, too, are dropped where the answer is made.
            self.set(commands[place].index, debt: reply.debt) {
                withExtendedLifetime(commands) { Backend.response(to: reply, answer) }
            }
        }
        if !isTaken { throw Backend.queueFull }
    }

    @Sendable private func response() -> HTTPResponse {
        let (results, debt) = state.withLock { ($0.results, $0.debt) }
        var writer = JSONWriter(capacity: results.count * 1_024 + 64)
        writer.beginObject()
        writer.key("results")
        writer.beginArray()
        for (index, makeResult) in results.enumerated() {
            guard let result = makeResult?() else { continue }
            writer.beginObject()
            writer.key("index")
            writer.int(index)
            writer.key("status")
            writer.int(result.status)
            writer.key(result.status < 300 ? "result" : "problem")
            writer.raw(result.body)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        var response = HTTPResponse(status: 207, body: writer.bytes)
        if debt > 0 {
            response.headers.append(HTTPResponse.Header("Discern-Report-Debt", String(debt)))
        }
        return response
    }
}

import JSON
import Testing

/// A request that was answered as done, with the answer.
struct Acknowledged: Sendable {
    var body: JSONValue
    var path: String
    var answer: JSONValue

    /// Sends everything again: each answer is to be the stored one. Gives those that are not.
    static func replay(_ acknowledged: [Acknowledged], _ service: Service) -> [String] {
        let wrong = Gathered<String>()
        let (port, key) = (service.port, service.key)
        let workers = min(8, acknowledged.count)
        concurrently(workers) { worker in
            let client = Client(port: port, key: key)
            for item in acknowledged[...].striding(from: worker, by: workers) {
                guard let answer = try? client.post(item.path, item.body) else {
                    wrong.add("\(item.path): no answer")
                    continue
                }
                // A report that came later changes the state that the answer shows.
                let (was, now) = (item.answer, answer.json)
                let same = [
                    "evaluationID", "labelID", "grant", "decision", "insights", "reportedAt",
                    "effectiveAt",
                ].allSatisfy { was[$0] == now[$0] }
                let isReplay = now["replayed"] == true || now["status"] == "replayed"
                if answer.status != 200 || !isReplay || !same {
                    wrong.add("\(item.path): \(answer.status) \(answer.text), was \(was.text)")
                }
            }
        }
        return wrong.all
    }

    /// What of it is not in a ledger, and what is there twice.
    static func faults(_ ledger: AuditedLedger, _ acknowledged: [Acknowledged]) -> [String] {
        var faults: [String] = []
        func ids(_ member: String, of entries: [AuditedEntry]) -> Set<String> {
            let all = entries.map { $0.command[member]?.stringValue ?? "?" }
            let different = Set(all)
            if different.count < all.count { faults.append("twice the same \(member)") }
            return different
        }
        let evaluations = ledger.of(kind: "evaluation")
        let known = [
            "/v1/evaluations": ids("requestID", of: evaluations),
            "/v1/consumption": ids("evaluationID", of: ledger.of(kind: "consumption")),
            "/v1/labels": ids("labelID", of: ledger.of(kind: "label")),
            "/v1/review-prompts/donations": ids("idempotencyKey", of: ledger.of(kind: "donation")),
        ]
        for item in acknowledged {
            let id =
                switch item.path {
                case "/v1/evaluations": item.body["requestID"]
                case "/v1/consumption": item.answer["evaluationID"]
                case "/v1/labels": item.body["labelID"]
                default: item.body["idempotencyKey"]
                }
            if known[item.path]?.contains(id?.stringValue ?? "-") != true {
                faults.append("\(item.path): \(id?.text ?? "-") was acknowledged, and is not there")
            }
        }
        let evaluated = Set(evaluations.map { $0.result["evaluationID"]?.stringValue ?? "?" })
        if !evaluated.isSuperset(of: known["/v1/consumption"] ?? []) {
            faults.append("a report without its evaluation")
        }
        return faults
    }
}

extension ArraySlice {
    /// Every so-manyth element.
    func striding(from first: Int, by step: Int) -> [Element] {
        stride(from: startIndex + first, to: endIndex, by: step).map { self[$0] }
    }
}

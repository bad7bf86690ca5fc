import JSON

/// A short fixed story that a service is told while its disk fails.
struct FaultStory {
    /// Whether the fault stays, so that it does not help to send a request again.
    let isLasting: Bool
    /// What was answered as done.
    private(set) var acknowledged: [Acknowledged] = []
    /// Set once something was refused for good: then what builds on it may be refused too.
    private var hasRefused = false

    init(isLasting: Bool) { self.isLasting = isLasting }

    /// How often a request is sent while it is answered that it may be.
    private static let attempts = 5

    /// From the start of the service to its end: a request to stop, or a kill. Gives what a service
    /// may not do, if it did.
    mutating func tell(on service: Service, isKilled: Bool) throws -> String? {
        do {
            try service.start()
        } catch Service.Failure.ended(let status, let errors) {
            return Self.problem(endedWith: status, errors)
        }
        if let problem = try talk(to: service) {
            guard service.isRunning else {
                let status = try service.waitForExit()
                return Self.problem(endedWith: status, Files.text(service.errors))
            }
            return problem
        }
        if isKilled {
            try service.kill()
            return nil
        }
        let status = try service.stop()
        return status == 0 ? nil : "stopped with \(status): \(Files.text(service.errors))"
    }

    /// A service that ends by itself says why; a signal is no way to end.
    private static func problem(endedWith status: Int32, _ errors: String) -> String? {
        guard status == 1 else { return "ended with \(status): \(errors)" }
        let causes = [
            "No space left", "full", "Input/output error", "I/O error", "unable to open",
            // A file that does not open for writing is opened for reading, by SQLite.
            "readonly database",
        ]
        return causes.contains { errors.contains($0) } ? nil : "says no cause: \(errors)"
    }

    // MARK: What it is told

    private mutating func talk(to service: Service) throws -> String? {
        let client = service.client()
        var authorization: Answer?
        for _ in 0..<Self.attempts {
            authorization = try? client.put(
                "/v1/authorizations", Requests.authorization("payer"))
            if authorization?.status == 200 { break }
        }
        guard let authorization else { return "no answer to an authorization" }
        if authorization.status != 200 {
            guard isLasting, authorization.status == 503 else { return authorization.text }
            hasRefused = true
        }
        for (path, body) in Self.first {
            if let problem = take(Self.send(path, body, client)) { return problem }
        }
        let answers = Gathered<Sent>()
        let (port, key) = (service.port, service.key)
        concurrently(Self.together) { index in
            let client = Client(port: port, key: key)
            for (path, body) in Self.each(index) { answers.add(Self.send(path, body, client)) }
        }
        // What was refused first: others may have been refused for that.
        for isRefused in [true, false] {
            for sent in answers.all where sent.isRefused == isRefused {
                if let problem = take(sent) { return problem }
            }
        }
        return take(Self.send("/v1/evaluations", Self.payment("last"), client))
    }

    private static let together = 4
    private static let donations = "/v1/review-prompts/donations"

    private static func payment(_ id: String) -> JSONValue {
        Requests.evaluation(id, subject: "payer", amount: 1, device: 0.1)
    }

    /// One after another.
    private static var first: [(path: String, body: JSONValue)] {
        [
            ("/v1/evaluations", payment("r1")), ("/v1/evaluations", payment("r2")),
            ("/v1/consumption", Requests.report(requestID: "r1")),
            ("/v1/labels", Requests.label("l1", requestID: "r1", at: "2026-11-01T00:00:00Z")),
        ]
            + ["a", "b", "c"].map { (donations, Requests.donation($0, subject: "s", device: "d")) }
    }

    /// What several send at once.
    private static func each(_ index: Int) -> [(path: String, body: JSONValue)] {
        let id = "t\(index)"
        return [
            ("/v1/evaluations", payment(id)),
            ("/v1/consumption", Requests.report(requestID: id, "usedUnchangedFriction")),
            (donations, Requests.donation(id, subject: id, device: id)),
            ("/v1/evaluations", payment(id + "-2")),
        ]
    }

    // MARK: What it answers

    private struct Sent: Sendable {
        var path: String
        var body: JSONValue
        var answer: Answer?

        var isRefused: Bool { answer?.status == 503 }
    }

    private static func send(_ path: String, _ body: JSONValue, _ client: Client) -> Sent {
        var sent = Sent(path: path, body: body)
        for _ in 0..<attempts {
            sent.answer = try? client.post(path, body)
            guard sent.isRefused, sent.answer?["retryable"] == true else { break }
        }
        return sent
    }

    private mutating func take(_ sent: Sent) -> String? {
        let place = "\(sent.path) \(sent.body.text)"
        guard let answer = sent.answer else { return "\(place): no answer" }
        switch answer.status {
        case 200, 201:
            acknowledged.append(
                Acknowledged(body: sent.body, path: sent.path, answer: answer.json))
        case 503 where isLasting && answer["retryable"] == true: hasRefused = true
        // What it builds on was refused before.
        case 403,
            404 where hasRefused:
            break
        default: return "\(place): \(answer.status) \(answer.text)"
        }
        return nil
    }
}

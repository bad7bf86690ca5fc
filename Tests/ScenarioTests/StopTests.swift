import JSON
import Testing

extension Scenarios {
    /// SIGTERM under load: what was accepted is answered, what was answered is stored.
    @Suite struct Stop {
        @Test func stoppingUnderLoadLosesNothing() throws {
            let service = try Service.started()
            #expect(
                try service.client().put(
                    "/v1/authorizations", Requests.authorization("payer")
                ).status == 200)
            let stored = Gathered<String>()
            let refused = Gathered<String>()
            let cut = Gathered<String>()
            let (port, key) = (service.port, service.key)
            let threads = Threads(64) { index in
                let client = Client(port: port, key: key)
                for number in 0... {
                    let id = "c\(index)-\(number)"
                    let body = Requests.evaluation(id, subject: "payer", amount: 1, device: 0.1)
                    do {
                        let answer = try client.post("/v1/evaluations", body)
                        switch answer.status {
                        case 201: stored.add(id)
                        case 503 where answer.code == "shuttingDown": refused.add(id)
                        default: refused.add("\(id): \(answer.status) \(answer.text)")
                        }
                    } catch Client.Failure.connect {
                        // Nobody listens any more.
                        return
                    } catch {
                        cut.add(id)
                        return
                    }
                }
            }
            _ = Wait.until { stored.count >= 500 ? true : nil }
            #expect(try service.stop() == 0)
            threads.join()
            #expect(refused.all.allSatisfy { !$0.contains(":") }, "\(refused.all)")

            try service.start()
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            ledger.verify()
            let found = ledger.of(kind: "evaluation")
                .map { $0.command["requestID"]?.stringValue ?? "?" }
            #expect(Set(found).count == found.count)
            // Exactly what was answered: also nothing was stored and then not answered.
            #expect(Set(found) == Set(stored.all))
            #expect(Set(found).isDisjoint(with: refused.all))
            #expect(try service.stop() == 0)
        }

        @Test func idleConnectionsDoNotHoldUpTheEnd() throws {
            let service = try Service.started()
            let idle = (0..<50).map { _ in service.client() }
            for client in idle { #expect(try client.get("/healthz").status == 200) }
            #expect(try service.stop() == 0)
            for client in idle {
                #expect(throws: Client.Failure.self) { try client.get("/healthz") }
            }
        }
    }
}

import Foundation
import JSON
import Testing

extension Scenarios {
    /// What a caller says about a person is nowhere in the clear.
    @Suite struct Privacy {
        /// Texts that would be found wherever they came.
        private static let secrets = [
            "subject-6f1dQZ", "install-6f1dQZ", "device-6f1dQZ", "payee-6f1dQZ", "ghost-6f1dQZ",
        ]

        @Test func rawIDsAndUnstoredValuesAreNowhere() throws {
            let service = try Service.started(["--dev", "--log-level", "debug"])
            try Self.useAll(service)
            #expect(Files.text(service.errors).contains(#""level":"debug""#))
            try Self.search(service, "while it runs")
            try service.kill()
            try Self.search(service, "after a kill")
            try service.start()
            #expect(try service.stop() == 0)
            try Self.search(service, "after a stop")
        }

        /// Every call that takes an id of a person or a device, in good and in bad order.
        private static func useAll(_ service: Service) throws {
            let client = service.client()
            let (subject, install, device, payee) = (
                secrets[0], secrets[1], secrets[2], secrets[3]
            )
            var answers: [Answer] = []
            func post(_ path: String, _ body: JSONValue) throws {
                answers.append(try client.post(path, body))
            }
            let body = Requests.evaluation("e1", subject: subject)
                .with("/context/attributes/payee", .string(payee))
            try post("/v1/evaluations", body)
            answers.append(try client.put("/v1/authorizations", Requests.authorization(subject)))
            try post("/v1/evaluations?trace=true", body)
            try post("/v1/evaluations", body)
            try post("/v1/evaluations/batch", ["evaluations": [body.with("/requestID", "e2")]])
            // Refusals must not repeat them either: of another type, too long, unknown.
            try post("/v1/evaluations", body.with("/context/attributes/payee", [.string(payee)]))
            try post("/v1/evaluations", body.with("/context/attributes/other", .string(payee)))
            try post("/v1/evaluations", body.with("/requestID", "e3").with("/force", 1))
            for (key, reason) in [("d1", "finishedTranscript"), ("d2", "noSuchReason")] {
                try post(
                    "/v1/review-prompts/donations",
                    Requests.donation(key, subject: install, device: device, reason: reason))
            }
            try post(
                "/v1/review-prompts/status",
                Requests.donation("", subject: subject, device: device)
                    .with("/idempotencyKey", nil))
            try post(
                "/v1/review-prompts/merge",
                ["install": .string(install), "account": .string(subject)])
            try post("/v1/review-prompts/reset", ["subject": .string(subject)])
            try post("/v1/subjects/pseudonym", ["subject": .string(subject)])
            try post("/v1/subjects/pseudonym", ["device": .string(device)])
            try post("/v1/consumption", Requests.report(requestID: "e1"))
            // An id has no place in a URL; a caller that puts it there is refused, not logged.
            answers.append(try client.get("/v1/audit/entries?subject=\(secrets[4])"))
            answers.append(try client.get("/v1/evaluations/\(secrets[4])"))
            answers.append(try client.get("/v1/\(secrets[4])"))

            #expect(answers.count { $0.status < 300 } >= 10, "the flow was gone through")
            #expect(answers.count { $0.status >= 400 } >= 7)
            let stored = try #require(
                answers.dropFirst(2).first?.json["decision"], "the payment was judged")
            #expect(stored["friction"] == "increased")
            let ledger = try AuditedLedger(client)
            #expect(ledger.of(kind: "evaluation").count == 3)
            for entry in ledger.of(kind: "evaluation") {
                #expect(entry.command["attributes"]?["payee"] != .string(payee))
            }
            #expect(ledger.of(kind: "donation").count == 1)
            #expect(ledger.of(kind: "merge").count == 1)
        }

        private static func search(_ service: Service, _ when: String) throws {
            let files = Files.all(in: service.data) + [service.output, service.errors]
            let names = files.map { URL(fileURLWithPath: $0).lastPathComponent }
            #expect(Set(names).isSuperset(of: ["discern.db", "pseudonym.key", "operator.key"]))
            for file in files {
                let data = Data(Files.bytes(file))
                for secret in secrets {
                    #expect(
                        data.range(of: Data(secret.utf8)) == nil,
                        "\(secret) stands in \(file) \(when)")
                    let wide = Data(secret.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
                    #expect(data.range(of: wide) == nil, "\(secret), wide, in \(file)")
                }
            }
        }

        @Test func filesBelongToTheirOwnerAlone() throws {
            let service = try Service.started()
            for file in Files.all(in: service.data) {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
                let name = URL(fileURLWithPath: file).lastPathComponent
                // The folder itself is closed to others; keys are closed besides.
                if name.hasSuffix(".key") { #expect(mode & 0o077 == 0, "\(name)") }
            }
            let folder = try FileManager.default.attributesOfItem(atPath: service.data)
            #expect((folder[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        }
    }
}

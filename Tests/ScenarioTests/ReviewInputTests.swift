import Foundation
import JSON
import Testing

extension Scenarios {
    /// Donations and reports that are wrong, each in its own way, and what comes of each.
    @Suite struct ReviewInput {
        private static let donations = "/v1/review-prompts/donations"

        private static func donation(
            _ key: String, _ subject: String = "anna", _ device: String = "phone",
            reason: String = "finishedTranscript", version: String = "1.0"
        ) -> JSONValue {
            Requests.donation(
                key, subject: subject, device: device, reason: reason, version: version)
        }

        private static func time(_ minutes: Double) -> JSONValue {
            .string(
                Date(timeIntervalSinceNow: minutes * 60).formatted(.iso8601))
        }

        /// Donates until the person is asked, and gives the grant's id.
        private static func grant(
            _ client: Client, _ subject: String = "anna", _ device: String = "phone",
            version: String = "1.0"
        ) throws -> String {
            var last: Answer?
            for number in 0..<3 {
                last = try client.post(
                    donations,
                    donation("\(subject)-\(version)-\(number)", subject, device, version: version))
            }
            return try #require(last?["grant"]?["grantID"]?.stringValue, "\(last?.text ?? "")")
        }

        private static func causes(_ answer: Answer) -> [String] {
            (answer["verdicts"]?.arrayValue ?? []).compactMap { $0["cause"]?.stringValue }
        }

        struct Refused: Sendable {
            var name: String
            var body: JSONValue
            var code: String
            var field: String

            init(_ name: String, _ body: JSONValue, _ code: String, _ field: String) {
                (self.name, self.body, self.code, self.field) = (name, body, code, field)
            }
        }

        private static var refused: [Refused] {
            let good = donation("bad")
            let zones = ["Mars/Olympus", "europe/london", "+25:00", "../UTC", "GMT+1", " "]
            return zones.map {
                Refused(
                    "zone \($0)", good.with("/timeZone", .string($0)), "invalidValue", "/timeZone")
            } + [
                Refused("no zone", good.with("/timeZone", nil), "missingField", "/timeZone"),
                Refused(
                    "a reason nobody knows", good.with("/reason", "mood"), "invalidValue",
                    "/reason"),
                Refused("no reason", good.with("/reason", nil), "missingField", "/reason"),
                Refused(
                    "from the future", good.with("/occurredAt", time(6)), "clockSkew",
                    "/occurredAt"),
                Refused(
                    "installed in the future", good.with("/installedAt", time(6)), "clockSkew",
                    "/installedAt"),
                Refused(
                    "no time", good.with("/occurredAt", "yesterday"), "invalidValue",
                    "/occurredAt"),
                Refused(
                    "a long version",
                    good.with("/appVersion", .string(String(repeating: "1", count: 65))),
                    "invalidValue", "/appVersion"),
                Refused(
                    "a place nobody knows", good.with("/distribution", "cydia"), "invalidValue",
                    "/distribution"),
            ]
        }

        @Test func donationsThatAreRefusedSayWhyAndLeaveNothing() throws {
            let service = try Service.started()
            let client = service.client()
            let before = try AuditedLedger(client).entries.count
            for item in Self.refused {
                let answer = try client.post(Self.donations, item.body)
                #expect(answer.status == 422, "\(item.name): \(answer.text)")
                #expect(answer.code == item.code, "\(item.name): \(answer.text)")
                #expect(answer.string("field") == item.field, "\(item.name): \(answer.text)")
            }
            #expect(try AuditedLedger(client).entries.count == before)
            let unknown = try client.post(
                Self.donations, Self.donation("bad").with("/reason", "mood"))
            #expect(
                unknown["allowed"] == [
                    "finishedTranscript", "exportedVideo", "activeDay", "anyTwo",
                    "transcriptionFailed",
                ])
            // The key was not used up.
            #expect(try client.post(Self.donations, Self.donation("bad")).status == 201)
            let other = try client.post(
                Self.donations, Self.donation("bad", version: "1.1"))
            #expect(other.status == 422 && other.code == "idempotencyKeyReused")
        }

        @Test func donationsThatCannotAskAreTakenAndSayWhy() throws {
            let service = try Service.started()
            let client = service.client()
            for version in ["", "unknown", "1.0 (77)"] {
                let answer = try client.post(
                    Self.donations, Self.donation("version \(version)", version: version))
                #expect(answer.status == 201)
                #expect(Self.causes(answer).contains("unreadableVersion"), "\(answer.text)")
                #expect(answer["nextEligibleAt"] == .null)
            }
            let old = try client.post(
                Self.donations, Self.donation("old").with("/occurredAt", Self.time(-3)))
            #expect(old.status == 201 && old["stale"] == true)
            #expect(Self.causes(old).contains("stale"))
            // Within the tolerance it is now.
            let ahead = try client.post(
                Self.donations, Self.donation("ahead", "bert").with("/occurredAt", Self.time(4)))
            #expect(ahead.status == 201 && ahead["stale"] == false)
        }

        /// The prompts of a device are counted whoever uses it.
        @Test func aDeviceSeenUnderTwoSubjects() throws {
            let service = try Service.started()
            let client = service.client()
            let id = try Self.grant(client)
            for number in 0..<3 {
                let answer = try client.post(
                    Self.donations, Self.donation("bert-\(number)", "bert"))
                #expect(answer["decision"] == "hold")
                #expect(Self.causes(answer).contains("reservationOpen"))
            }
            let path = "/v1/review-prompts/grants/\(id)"
            #expect(try client.post(path, ["outcome": "requested"]).status == 200)
            let held = try client.post(Self.donations, Self.donation("bert-4", "bert"))
            #expect(Self.causes(held).contains("tooSoon"))
            #expect(Self.causes(held).contains("alreadyPrompted"))
        }

        @Test func caseR28_reportsThatAreWrongEachHaveTheirAnswer() throws {
            let service = try Service.started()
            let client = service.client()
            let id = try Self.grant(client)
            let path = "/v1/review-prompts/grants/\(id)"
            func expect(
                _ body: JSONValue, _ status: Int, _ code: String?, _ field: String? = nil
            ) throws {
                let answer = try client.post(path, body)
                #expect(answer.status == status, "\(body): \(answer.text)")
                #expect(answer.code == code, "\(body): \(answer.text)")
                #expect(answer.string("field") == field, "\(body): \(answer.text)")
            }
            let before = try AuditedLedger(client).entries.count
            try expect(
                ["outcome": "requested", "subject": "bert"], 409, "subjectMismatch", "/subject")
            try expect(["outcome": "shown"], 422, "invalidValue", "/outcome")
            try expect([:], 422, "missingField", "/outcome")
            try expect(
                ["outcome": "requested", "rated": true], 422, "unknownField", "/rated")
            for other in ["01930000-0000-7000-8000-000000000001", "x", "%00"] {
                let answer = try client.post(
                    "/v1/review-prompts/grants/\(other)", ["outcome": "requested"])
                #expect(answer.status == 404 || answer.status == 400, "\(other): \(answer.text)")
            }
            #expect(try AuditedLedger(client).entries.count == before)

            let report = try client.post(path, ["outcome": "requested", "subject": "anna"])
            #expect(report.status == 200 && report["replayed"] == false)
            #expect(report["shown"] == "unknown" && report["rated"] == "unknown")
            let again = try client.post(path, ["outcome": "requested"])
            #expect(again.json == report.json.with("/replayed", true))
            try expect(["outcome": "notRequested"], 409, "alreadyReported", "/outcome")
            #expect(try AuditedLedger(client).entries.count == before + 1)
            // An install's name stands for the account that it was merged into.
            let merged = try client.post(
                "/v1/review-prompts/merge", ["install": "anna", "account": "account"])
            #expect(merged.status == 200)
            for subject in ["anna", "account"] {
                try expect(["outcome": "requested", "subject": .string(subject)], 200, nil)
            }
        }

        @Test func reportsAfterTheLeaseNeverRefundAndAlwaysCount() throws {
            let service = try Service.started()
            let client = service.client()
            func wait(_ span: String) throws {
                #expect(
                    try client.post("/v1/sandbox/clock", ["advance": .string(span)]).status == 200)
            }
            func report(_ id: String, _ body: JSONValue) throws -> Answer {
                try client.post("/v1/review-prompts/grants/\(id)", body)
            }
            let first = try Self.grant(client)
            try wait("11m")
            let returned = try report(first, ["outcome": "notRequested", "reason": "noScene"])
            #expect(returned.status == 200)
            #expect(returned["state"] == "silent" && returned["late"] == true)
            let same = try report(first, ["outcome": "notRequested", "reason": "noScene"])
            #expect(same["replayed"] == true)
            let other = try report(first, ["outcome": "notRequested", "reason": "other"])
            #expect(other.status == 409 && other.code == "alreadyReported")
            let status = Self.donation("x").with("/idempotencyKey", nil)
            let held = try client.post("/v1/review-prompts/status", status)
            #expect(Self.causes(held).contains("tooSoon"))
            #expect(held["prompts"] == 1)
            // It was asked after all: that counts, once.
            let late = try report(first, ["outcome": "requested"])
            #expect(late["state"] == "requested" && late["late"] == true)
            #expect(
                try client.post("/v1/review-prompts/status", status)["prompts"] == 1)
            // So does a request after the grant was given back in time.
            try wait("8d")
            let second = try Self.grant(client, version: "1.1")
            #expect(try report(second, ["outcome": "notRequested"])["state"] == "notRequested")
            #expect(
                try client.post("/v1/review-prompts/status", status)["prompts"] == 1)
            #expect(try report(second, ["outcome": "requested"])["late"] == true)
            #expect(
                try client.post("/v1/review-prompts/status", status)["prompts"] == 2)
        }

        /// Sandbox and production each have their own prompts.
        @Test func caseR29_environmentsHaveLedgersOfTheirOwn() throws {
            let setting = try BadInput.Setting()
            let sandbox = setting.service.client(key: setting.sandbox)
            let production = setting.service.client(key: setting.production)
            let tried = try Self.grant(sandbox)
            #expect(
                try sandbox.post(
                    "/v1/review-prompts/grants/\(tried)", ["outcome": "requested"]
                ).status == 200)
            // The same person, device and version in production are asked all the same.
            let real = try Self.grant(production)
            for (client, id) in [(sandbox, real), (production, tried)] {
                let answer = try client.post(
                    "/v1/review-prompts/grants/\(id)", ["outcome": "requested"])
                #expect(answer.status == 409 && answer.code == "environmentMismatch")
            }
            // A build that shows nothing asks in sandbox only.
            for (client, decision) in [(sandbox, "ask"), (production, "hold")] {
                var last: Answer?
                for number in 0..<3 {
                    last = try client.post(
                        Self.donations,
                        Self.donation("carl-\(number)", "carl", "desk")
                            .with("/distribution", "testFlight"))
                }
                #expect(last?.string("decision") == decision)
            }
        }
    }
}

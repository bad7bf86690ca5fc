import Foundation
import Glibc
import JSON
import Testing

extension Scenarios {
    /// A disk without space: nothing acknowledged is lost, and when there is space again, the
    /// service goes on by itself.
    @Suite struct Disk {
        @Test(
            .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
        func diskThatIsFullWhileRunning() throws {
            let disk = try SmallDisk(kibibytes: 4_096)
            let service = try Service()
            service.data = disk.path + "/data"
            try service.start()
            try Self.runOutOfSpace(service, fill: { disk.fill() }, free: { disk.free() })
            // A disk that is full when it starts on what it has: it serves, or says why not.
            disk.fill()
            do {
                try service.start()
                #expect(try service.client().get("/healthz").status == 200)
                try service.kill()
            } catch Service.Failure.ended(let status, let errors) {
                #expect(status == 1)
                #expect(errors.contains("full") || errors.contains("No space"), "\(errors)")
            }
            disk.free()
            try Self.checkAll(service)
        }

        /// Needs no rights at all.
        @Test(.enabled(if: FileSizeLimit.isPossible, "needs util-linux"))
        func filesThatMayNotGrowWhileRunning() throws {
            let service = try Service.started()
            let process = try #require(service.process?.identifier)
            try Self.runOutOfSpace(
                service,
                fill: {
                    let log = Files.bytes(service.data + "/discern.db-wal").count
                    try FileSizeLimit.set(String(log), of: process)
                }, free: { try FileSizeLimit.set("unlimited", of: process) })
            try Self.checkAll(service)
        }

        /// Leaves the service killed, with what it acknowledged listed in a file beside it.
        private static func runOutOfSpace(
            _ service: Service, fill: () throws -> Void, free: () throws -> Void
        ) throws {
            let client = service.client()
            #expect(
                try client.put(
                    "/v1/authorizations", Requests.authorization("acct-42")
                ).status == 200)
            let stored = Gathered<String>()
            let refused = Gathered<String>()
            let wrong = Gathered<String>()
            let (port, key) = (service.port, service.key)
            func send(_ prefix: String, perThread count: Int) {
                concurrently(8) { index in
                    let client = Client(port: port, key: key)
                    for number in 0..<count {
                        let id = "\(prefix)-\(index)-\(number)"
                        let body = Requests.evaluation(id, amount: 1, device: 0.1)
                        guard let answer = try? client.post("/v1/evaluations", body) else {
                            wrong.add("\(id): no answer")
                            return
                        }
                        switch (answer.status, answer.code) {
                        case (201, _): stored.add(id)
                        case (503, "serverError") where answer["retryable"] == true:
                            refused.add(id)
                        default: wrong.add("\(id): \(answer.status) \(answer.text)")
                        }
                    }
                }
            }
            send("before", perThread: 20)
            #expect(stored.count == 160)
            try fill()
            send("full", perThread: 25)
            #expect(refused.count > 0, "the disk was full")
            try isUnwell(client)
            // What needs no space goes on: a replay.
            let replayed = try client.post(
                "/v1/evaluations", Requests.evaluation("before-0-0", amount: 1, device: 0.1))
            #expect(replayed.status == 200)

            try free()
            send("after", perThread: 5)
            #expect(stored.all.count { $0.hasPrefix("after") } == 40)
            #expect(try client.get("/readyz").status == 200)
            #expect(try client.get("/metrics").text.contains("discern_storage_failed 0"))
            // What was refused was not stored, so it can be sent again.
            for id in refused.all.prefix(20) {
                let body = Requests.evaluation(id, amount: 1, device: 0.1)
                let answer = try client.post("/v1/evaluations", body)
                #expect(answer.status == 201, "\(answer.text)")
                stored.add(id)
            }
            #expect(wrong.all == [])
            try service.kill()
            try Files.write(
                stored.all.joined(separator: "\n"), to: service.folder.path + "/stored")
        }

        private static func isUnwell(_ client: Client) throws {
            #expect(try client.get("/healthz").status == 200, "the process stays up")
            let ready = try client.get("/readyz")
            #expect(ready.status == 503)
            #expect(ready.text.contains("storing failed"), "\(ready.text)")
            #expect(try client.get("/metrics").text.contains("discern_storage_failed 1"))
        }

        private static func checkAll(_ service: Service) throws {
            let stored = Files.text(service.folder.path + "/stored").split(separator: "\n")
                .map(String.init)
            try service.start()
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            ledger.verify()
            let found = ledger.of(kind: "evaluation")
                .compactMap { $0.command["requestID"]?.stringValue }
            #expect(found.sorted() == stored.sorted())
            #expect(try service.stop() == 0)
        }

        /// So much space is left at the first start: for nothing, for the key, for a part of
        /// the database, for some entries.
        @Test(
            .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"),
            arguments: [0, 4, 8, 16, 40, 64, 96, 128])
        func diskThatIsFullAtTheFirstStart(kibibytes: Int) throws {
            let disk = try SmallDisk(kibibytes: 4_096)
            let service = try Service()
            service.data = disk.path + "/data"
            disk.fill(allBut: kibibytes)
            do {
                try service.start()
                try service.kill()
            } catch Service.Failure.ended(let status, let errors) {
                #expect(status == 1, "\(errors)")
                #expect(
                    errors.contains("full") || errors.contains("No space")
                        || errors.contains("disk I/O error"), "\(errors)")
            }
            disk.free()
            // Whatever the start left behind is no obstacle.
            try service.start()
            #expect(try service.client().get("/readyz").status == 200)
            var ledger = try AuditedLedger(service.client(key: service.operatorKey))
            ledger.verify()
            #expect(try service.stop() == 0)
        }
    }
}

import Foundation
import Glibc
import JSON
import Synchronization
import Testing

extension Scenarios {
    /// Policies are read again while requests come in.
    @Suite struct Reload {
        private static let reloads = 20

        /// The versions that evaluations named.
        private final class Versions: Sendable {
            private let state = Mutex<(seen: Set<Int64>, count: Int)>(([], 0))

            func add(_ version: Int64) {
                state.withLock {
                    $0.seen.insert(version)
                    $0.count += 1
                }
            }
            var seen: Set<Int64> { state.withLock { $0.seen } }
            var count: Int { state.withLock { $0.count } }
        }

        @Test func reloadingUnderLoadFailsNoRequest() throws {
            let service = try Service.started()
            for index in 0..<32 {
                _ = try service.client().put(
                    "/v1/authorizations", Requests.authorization("payer-\(index)"))
            }
            let versions = Versions()
            let unavailable = Gathered<String>()
            let failures = Gathered<String>()
            let isOver = Flag()
            let (port, key) = (service.port, service.key)
            let threads = Threads(32) { index in
                let client = Client(port: port, key: key)
                for number in 0... {
                    if isOver.isSet { return }
                    let body = Requests.evaluation(
                        "c\(index)-\(number)", subject: "payer-\(index)", amount: 1, device: 0.1)
                    do {
                        let answer = try client.post("/v1/evaluations", body)
                        if answer.status == 201, let policy = answer["policy"]?["version"]?.intValue
                        {
                            versions.add(policy)
                        } else if answer.code == "unavailable" {
                            #expect(answer["retryable"] == true)
                            unavailable.add(answer.text)
                        } else {
                            failures.add("\(answer.status) \(answer.text)")
                        }
                    } catch {
                        failures.add("\(error)")
                        return
                    }
                }
            }
            try Self.reload(service, versions)
            isOver.set()
            threads.join()
            #expect(failures.all == [])
            // A request that is read by one policy and judged under the next is read again.
            #expect(
                unavailable.count == 0,
                "\(unavailable.count) of \(versions.count) evaluations were answered `unavailable`")
            #expect(versions.seen.count > Self.reloads / 2, "the new versions acted")
            #expect(try service.stop() == 0)
        }

        /// A new version each time, read by signal and by request in turn, and now and then
        /// a reload of what is known already.
        private static func reload(_ service: Service, _ versions: Versions) throws {
            let client = service.client()
            let path = service.policies + "/transcripts-payments.yaml"
            let text = Files.text(path)
            for step in 0..<reloads {
                let version = Int64(4 + step)
                try Files.write(
                    text.replacingOccurrences(of: "version: 3\n", with: "version: \(version)\n"),
                    to: path)
                if step % 2 == 0 {
                    service.process?.signal(SIGHUP)
                } else {
                    let answer = try client.post("/v1/policies/reload", .null)
                    #expect(answer.status == 200, "\(answer.text)")
                    #expect(answer["activated"] == [.string("transcripts-payments@\(version)")])
                }
                let acted = Wait.until { versions.seen.contains(version) ? true : nil }
                #expect(acted == true, "version \(version) acts")
                let known = try client.post("/v1/policies/reload", .null)
                #expect(known.status == 200)
                #expect(known["activated"] == [])
            }
        }
    }
}

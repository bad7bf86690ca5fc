import Glibc
import JSON
import Server
import Testing
import Time

@Suite struct MetricsTests {
    @Test func thePageFollowsTheTextFormat() {
        let registry = MetricsRegistry()
        let plain = registry.counter("discern_entries_total", "Entries \\ written\nsince start.")
        let labelled = registry.counter("discern_x_total", "X.", labels: [("a", "q\"\\\n")])
        registry.counter("discern_x_total", "X.", labels: [("a", "silent")])
        registry.gauge("discern_depth", "Depth.") { 1.5 }
        plain.add(3)
        labelled.add()
        #expect(
            registry.text() == #"""
                # HELP discern_entries_total Entries \\ written\nsince start.
                # TYPE discern_entries_total counter
                discern_entries_total 3
                # HELP discern_x_total X.
                # TYPE discern_x_total counter
                discern_x_total{a="q\"\\\n"} 1
                # HELP discern_depth Depth.
                # TYPE discern_depth gauge
                discern_depth 1.5

                """#)
    }

    @Test func histogramsAreCumulative() {
        let registry = MetricsRegistry()
        let histogram = registry.histogram("d_seconds", "D.", Histogram(bounds: [0.001, 1]))
        for nanoseconds: Int64 in [0, 1_000_000, 1_000_001, 5_000_000_000] {
            histogram.observe(nanoseconds: nanoseconds)
        }
        #expect(
            registry.text() == """
                # HELP d_seconds D.
                # TYPE d_seconds histogram
                d_seconds_bucket{le="0.001"} 2
                d_seconds_bucket{le="1"} 3
                d_seconds_bucket{le="+Inf"} 4
                d_seconds_sum 5.002000001
                d_seconds_count 4

                """)
    }

    @Test func answersAreCountedByRouteAndStatus() {
        let registry = MetricsRegistry()
        let route = Route(.get, "/a", name: "getA", summary: "", access: .anyone)
        let metrics = RequestMetrics([route], registry: registry)
        metrics.count(.init(tag: 0, status: 200, nanoseconds: 1))
        metrics.count(.init(tag: 0, status: 404, nanoseconds: 1))
        metrics.count(.init(tag: 0, status: 299, nanoseconds: 1))  // in no table
        metrics.count(.init(tag: nil, status: 404, nanoseconds: 0))
        metrics.count(.init(tag: 7, status: 404, nanoseconds: 0))
        let lines = registry.text().split(separator: "\n")
        func count(_ route: String, _ method: String, _ status: String) -> Substring? {
            let name =
                "discern_http_requests_total{route=\"\(route)\",method=\"\(method)\",status=\"\(status)\"} "
            return lines.first { $0.hasPrefix(name) }?.dropFirst(name.count)
        }
        #expect(count("getA", "GET", "200") == "1")
        #expect(count("getA", "GET", "404") == "1")
        #expect(count("getA", "GET", "other") == "1")
        #expect(count("none", "none", "404") == "2")
        #expect(lines.contains(#"discern_http_request_seconds_count{route="getA"} 3"#))
    }

    @Test func linesOfTheLogAreJSON() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let log = Log(level: .info, descriptor: ends[1]) { Instant(milliseconds: 0) }
        log.debug("unseen")
        log.warning("policies \"kept\"", [("file", .word("a\n.yaml")), ("age", .int(-1))])
        log.error("stopped", [("clean", .bool(true))])
        close(ends[1])
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &buffer, buffer.count)
        close(ends[0])
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        #expect(
            lines == [
                #"{"time":"1970-01-01T00:00:00.000Z","level":"warning","message":"policies \"kept\"","file":"a\n.yaml","age":-1}"#,
                #"{"time":"1970-01-01T00:00:00.000Z","level":"error","message":"stopped","clean":true}"#,
            ])
    }
}

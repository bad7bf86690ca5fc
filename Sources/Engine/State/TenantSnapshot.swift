import JSON
import Time
import TrustInsights

/// What is counted for one app in one environment, as it is kept between entries. Derived from the
/// entries before it; whoever doubts it folds those again.
struct TenantSnapshot: Sendable {
    var tenant: Tenant
    var clockAhead: Duration
    var debt: ReportDebt
    var day: Int64
    var evaluationsToday: Int64
    var judged: [String: Int64]

    /// To be changed with anything that changes what folding gives: then nothing kept before is used.
    private static let version: Int64 = 1

    static func encode(_ snapshots: [TenantSnapshot]) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.beginObject()
        writer.key("tenants")
        writer.beginArray()
        for snapshot in snapshots { snapshot.write(to: &writer) }
        writer.endArray()
        writer.key("version")
        writer.int(version)
        writer.endObject()
        return writer.bytes
    }

    /// `nil` if it is not as this program writes it.
    static func decode(_ bytes: [UInt8]) -> [TenantSnapshot]? {
        bytes.withUnsafeBytes { bytes in
            try? JSONReader.withCursor(bytes, limits: JSONLimits(bytes: 1 << 32, depth: 10)) {
                root in
                guard root["version"]?.int == version, let list = root["tenants"] else {
                    return nil
                }
                var snapshots: [TenantSnapshot] = []
                list.forEach { if let snapshot = TenantSnapshot($0) { snapshots.append(snapshot) } }
                return snapshots.count == list.count ? snapshots : nil
            }
        }
    }

    private func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("app", tenant.app)
        writer.member("asOf", debt.asOf.milliseconds)
        writer.member("clockAhead", clockAhead.milliseconds)
        writer.member("day", day)
        writer.member("environment", tenant.environment.rawValue)
        writer.member("evaluationsToday", evaluationsToday)
        // Pairs, one after the other.
        writer.numbers("hours", debt.evaluationsByHour.flatMap { [$0.hour, $0.count] })
        writer.object("judged") { writer in
            for (digest, count) in judged.sorted(by: { $0.key < $1.key }) {
                writer.key(digest)
                writer.int(count)
            }
        }
        writer.numbers(
            "open", debt.unreported.flatMap { [$0.dueAt.milliseconds, $0.sequence] })
        if let since = debt.refusingSince { writer.member("refusingSince", since.milliseconds) }
        writer.endObject()
    }
}

extension TenantSnapshot {
    fileprivate init?(_ json: JSONCursor) {
        guard let app = json["app"]?.string,
            let environment = json["environment"]?.string.flatMap(DataEnvironment.init(rawValue:)),
            let asOf = json["asOf"]?.int, let clockAhead = json["clockAhead"]?.int,
            let day = json["day"]?.int, let today = json["evaluationsToday"]?.int,
            let hours = json["hours"]?.pairs, let open = json["open"]?.pairs,
            let counts = json["judged"]
        else { return nil }
        var judged: [String: Int64] = [:]
        counts.forEachMember { judged[String(decoding: $0, as: UTF8.self)] = $1.int }
        self.init(
            tenant: Tenant(app: app, environment: environment),
            clockAhead: .milliseconds(clockAhead),
            debt: ReportDebt(
                unreported: open.map { (Instant(milliseconds: $0), $1) },
                evaluationsByHour: hours.map { ($0, $1) },
                refusingSince: json["refusingSince"]?.int.map { Instant(milliseconds: $0) },
                asOf: Instant(milliseconds: asOf)),
            day: day, evaluationsToday: today, judged: judged)
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ number: Int64) {
        key(name)
        int(number)
    }

    fileprivate mutating func numbers(_ name: StaticString, _ numbers: [Int64]) {
        key(name)
        beginArray()
        for number in numbers { int(number) }
        endArray()
    }
}

extension JSONCursor {
    /// The numbers of an array, two by two.
    fileprivate var pairs: [(Int64, Int64)]? {
        var numbers: [Int64] = []
        numbers.reserveCapacity(count)
        var isWhole = true
        forEach { element in
            if let number = element.int { numbers.append(number) } else { isWhole = false }
        }
        guard isWhole, numbers.count % 2 == 0 else { return nil }
        return stride(from: 0, to: numbers.count, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
    }
}

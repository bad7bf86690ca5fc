import Synchronization

/// All metrics of the process, rendered in Prometheus' text format (version 0.0.4).
///
/// Metrics are registered when the server starts and then only counted: the lock is taken for
/// registering and rendering, never for a request.
public final class MetricsRegistry: Sendable {
    /// The media type of ``text()``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Labels of a metric, in the order in which they are shown.
    public typealias Labels = [(name: String, value: String)]

    private struct Family: Sendable {
        var name: String
        var help: String
        var type: String
        var members: [Member]
    }

    private struct Member: Sendable {
        var labels: Labels
        var source: Source
    }

    private enum Source: Sendable {
        case counter(Counter)
        case gauge(@Sendable () -> Double)
        case histogram(Histogram)
    }

    private let families = Mutex<[Family]>([])

    /// An empty registry.
    public init() {}

    /// Registers a counter. The name ends in `_total` by convention.
    @discardableResult
    public func counter(
        _ name: String, _ help: String, labels: Labels = [], _ counter: Counter = Counter()
    ) -> Counter {
        add(name, help, "counter", Member(labels: labels, source: .counter(counter)))
        return counter
    }

    /// Registers a value that is read when metrics are asked for.
    public func gauge(
        _ name: String, _ help: String, labels: Labels = [],
        _ read: @escaping @Sendable () -> Double
    ) {
        add(name, help, "gauge", Member(labels: labels, source: .gauge(read)))
    }

    /// Registers a histogram of durations. The name ends in `_seconds` by convention.
    @discardableResult
    public func histogram(
        _ name: String, _ help: String, labels: Labels = [], _ histogram: Histogram = Histogram()
    ) -> Histogram {
        add(name, help, "histogram", Member(labels: labels, source: .histogram(histogram)))
        return histogram
    }

    private func add(_ name: String, _ help: String, _ type: String, _ member: Member) {
        families.withLock { families in
            if let index = families.firstIndex(where: { $0.name == name }) {
                families[index].members.append(member)
            } else {
                families.append(Family(name: name, help: help, type: type, members: [member]))
            }
        }
    }

    /// The page that Prometheus reads. Counters and histograms that have counted nothing are
    /// left out where they have labels: most pairs of route and status never occur.
    public func text() -> String {
        var text = ""
        for family in families.withLock({ $0 }) {
            text += "# HELP \(family.name) \(Self.escaped(family.help))\n"
            text += "# TYPE \(family.name) \(family.type)\n"
            for member in family.members { Self.render(family.name, member, into: &text) }
        }
        return text
    }

    private static func render(_ name: String, _ member: Member, into text: inout String) {
        switch member.source {
        case .counter(let counter):
            let value = counter.value
            if value == 0, !member.labels.isEmpty { return }
            text += "\(name)\(rendered(member.labels)) \(value)\n"
        case .gauge(let read):
            text += "\(name)\(rendered(member.labels)) \(number(read()))\n"
        case .histogram(let histogram):
            let (counts, seconds) = histogram.snapshot
            let total = counts.reduce(0, +)
            if total == 0, !member.labels.isEmpty { return }
            var below = 0
            for (index, count) in counts.enumerated() {
                below += count
                let bound =
                    index < histogram.bounds.count ? number(histogram.bounds[index]) : "+Inf"
                let labels = member.labels + [("le", bound)]
                text += "\(name)_bucket\(rendered(labels)) \(below)\n"
            }
            text += "\(name)_sum\(rendered(member.labels)) \(number(seconds))\n"
            text += "\(name)_count\(rendered(member.labels)) \(total)\n"
        }
    }

    private static func rendered(_ labels: Labels) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        let whole = value.rounded(.towardZero)
        return whole == value && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }
}

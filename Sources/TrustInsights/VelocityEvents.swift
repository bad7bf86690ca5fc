import Policies
import Time

/// Earlier evaluations of a subject, in order of time.
///
/// They are kept attribute by attribute: a window reads one or two attributes of many events, and what
/// it reads lies side by side.
public struct VelocityEvents: Sendable {
    /// When each was received.
    public private(set) var times: [Instant] = []
    /// The category of each.
    public private(set) var categories: [Category] = []
    private var columns: [Column] = []

    /// The values of an attribute, one for each event.
    private struct Column {
        let name: String
        var values: [RecordedValue?]
    }

    /// No events.
    public init() {}

    /// Events, which are in order of time.
    public init(_ events: some Sequence<VelocityEvent>) {
        for event in events { append(event) }
    }

    /// How many there are.
    public var count: Int { times.count }

    /// The values of an attribute, one for each event; nil where no event has it.
    public func values(of name: String) -> [RecordedValue?]? {
        columns.first { $0.name == name }?.values
    }

    /// The places of the events after one instant and no later than another.
    func places(after start: Instant, through end: Instant) -> Range<Int> {
        // Windows end now, and most events are in them: what is not is looked for from the ends.
        var upper = count
        while upper > 0, times[upper - 1] > end { upper -= 1 }
        var (low, high) = (0, upper)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] > start { high = middle } else { low = middle + 1 }
        }
        return low..<upper
    }

    /// Adds an event, which is none before the others.
    public mutating func append(_ event: VelocityEvent) {
        for index in columns.indices { columns[index].values.append(nil) }
        times.append(event.at)
        categories.append(event.category)
        for (guess, attribute) in event.attributes.enumerated() {
            let column = place(of: attribute.name, guess: guess)
            columns[column].values[times.count - 1] = attribute.value
        }
    }

    /// The column of an attribute, made where there is none. Events mostly have the same attributes, in
    /// the same order.
    private mutating func place(of name: String, guess: Int) -> Int {
        if guess < columns.count, columns[guess].name == name { return guess }
        if let found = columns.firstIndex(where: { $0.name == name }) { return found }
        columns.append(
            Column(name: name, values: [RecordedValue?](repeating: nil, count: times.count)))
        return columns.count - 1
    }

    /// Forgets the first ones.
    public mutating func removeFirst(_ count: Int) {
        times.removeFirst(count)
        categories.removeFirst(count)
        for index in columns.indices { columns[index].values.removeFirst(count) }
    }

    /// The same without those at some places.
    public func removing(_ gone: some Collection<Int>) -> VelocityEvents {
        guard !gone.isEmpty else { return self }
        let kept = times.indices.filter { !gone.contains($0) }
        var rest = self
        rest.times = kept.map { times[$0] }
        rest.categories = kept.map { categories[$0] }
        for index in columns.indices {
            rest.columns[index].values = kept.map { columns[index].values[$0] }
        }
        return rest
    }
}

extension VelocityEvents: ExpressibleByArrayLiteral {
    /// Events, which are in order of time.
    public init(arrayLiteral events: VelocityEvent...) { self.init(events) }
}

import JSON
import Policies
import Time

/// An attribute's value as it is recorded.
public enum RecordedValue: Sendable {
    /// The value itself.
    case value(AttributeValue)
    /// The keyed digest of a value that the policy does not store: good for telling values
    /// apart, for nothing else.
    case digest(String)

    /// The number, if it is one.
    var number: Double? {
        switch self {
        case .value(.double(let number)): number
        case .value(.int(let number)): Double(number)
        default: nil
        }
    }
}

extension RecordedValue: Hashable {
    /// Texts are the same byte for byte, as in expressions.
    public static func == (left: RecordedValue, right: RecordedValue) -> Bool {
        switch (left, right) {
        case (.value(.string(let left)), .value(.string(let right))):
            ExactText(left) == ExactText(right)
        case (.value(let left), .value(let right)): left == right
        case (.digest(let left), .digest(let right)): left == right
        case (.value, .digest), (.digest, .value): false
        }
    }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .value(.string(let text)): hasher.combine(ExactText(text))
        case .value(let value): hasher.combine(value)
        case .digest(let digest): hasher.combine(digest)
        }
    }
}

/// One recorded attribute.
public struct RecordedAttribute: Sendable, Hashable {
    /// The name under `attributes.`.
    public var name: String
    /// What was recorded of it.
    public var value: RecordedValue

    /// An attribute by name.
    public init(name: String, value: RecordedValue) {
        self.name = name
        self.value = value
    }
}

/// An earlier evaluation of a subject, as far as velocity windows care.
public struct VelocityEvent: Sendable, Hashable {
    /// When it was received.
    public var at: Instant
    /// Its category.
    public var category: Category
    /// Its attributes, in the byte order of their names.
    public var attributes: [RecordedAttribute]

    /// An event of these parts.
    public init(at: Instant, category: Category, attributes: [RecordedAttribute]) {
        self.at = at
        self.category = category
        self.attributes = attributes
    }

    /// The recorded value of an attribute.
    public func value(of name: String) -> RecordedValue? {
        attributes.first { $0.name == name }?.value
    }
}

/// What a velocity window holds at an instant.
public enum VelocityValue: Sendable, Hashable {
    /// A count, or a number of distinct values.
    case count(Int64)
    /// A correctly rounded sum.
    case sum(Double)
}

extension VelocityWindow {
    /// What the window `(now − window, now]` holds of the events.
    ///
    /// The event being judged is not among them; with `by`, only those that share its value
    /// of that attribute count.
    public func value(
        of events: VelocityEvents, at now: Instant, judging attributes: [RecordedAttribute]
    ) -> VelocityValue {
        var count: Int64 = 0
        switch measure {
        case .count:
            each(of: events, at: now, judging: attributes) { _ in count += 1 }
            return .count(count)
        case .sum(let attribute):
            var sum = ExactSum()
            if let values = events.values(of: attribute) {
                each(of: events, at: now, judging: attributes) { place in
                    if let number = values[place]?.number { sum.add(number) }
                }
            }
            return .sum(sum.value)
        case .distinct(let attribute):
            var distinct = Set<RecordedValue>()
            if let values = events.values(of: attribute) {
                each(of: events, at: now, judging: attributes) { place in
                    if let value = values[place] { distinct.insert(value) }
                }
            }
            return .count(Int64(distinct.count))
        }
    }

    /// The places of the events that fill the window, as ``value(of:at:judging:)`` takes them. For
    /// a sum or distinct values those that have the attribute.
    public func places(
        of events: VelocityEvents, at now: Instant, judging attributes: [RecordedAttribute]
    ) -> [Int] {
        var places: [Int] = []
        let values = measure.attribute.map { events.values(of: $0) }
        each(of: events, at: now, judging: attributes) { place in
            switch measure {
            case .count: places.append(place)
            case .sum: if values??[place]?.number != nil { places.append(place) }
            case .distinct: if values??[place] != nil { places.append(place) }
            }
        }
        return places
    }

    /// Calls with the place of each event that fills the window, in order.
    private func each(
        of events: VelocityEvents, at now: Instant, judging attributes: [RecordedAttribute],
        _ body: (Int) -> Void
    ) {
        // An absent value is a group, too.
        let group = by.map { name in attributes.first { $0.name == name }?.value }
        let groups = by.flatMap { events.values(of: $0) }
        for place in events.places(after: now - window, through: now)
        where categories.contains(events.categories[place]) {
            if let group, groups?[place] ?? nil != group { continue }
            body(place)
        }
    }
}

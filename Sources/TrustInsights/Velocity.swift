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
        // Names of another length are told apart without comparing characters.
        let length = name.utf8.count
        for attribute in attributes
        where attribute.name.utf8.count == length && attribute.name == name {
            return attribute.value
        }
        return nil
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
    /// What the window `(now − window, now]` holds of the events, which are in order of time.
    ///
    /// The event being judged is not among them; with `by`, only those that share its value
    /// of that attribute count.
    public func value(
        of events: [VelocityEvent], at now: Instant, judging attributes: [RecordedAttribute]
    ) -> VelocityValue {
        let start = now - window
        let group = by.map { name in attributes.first { $0.name == name }?.value }
        var count: Int64 = 0
        var sum = ExactSum()
        var distinct = Set<RecordedValue>()
        for event in events.reversed() {
            if event.at <= start { break }
            guard event.at <= now, categories.contains(event.category) else { continue }
            if let by, let group, event.value(of: by) != group { continue }
            switch measure {
            case .count: count += 1
            case .sum(let attribute):
                if let number = event.value(of: attribute)?.number { sum.add(number) }
            case .distinct(let attribute):
                if let value = event.value(of: attribute) { distinct.insert(value) }
            }
        }
        switch measure {
        case .count: return .count(count)
        case .sum: return .sum(sum.value)
        case .distinct: return .count(Int64(distinct.count))
        }
    }

    /// The places of the events that fill the window, as ``value(of:at:judging:)`` takes them. For
    /// a sum or distinct values those that have the attribute.
    public func places(
        of events: [VelocityEvent], at now: Instant, judging attributes: [RecordedAttribute]
    ) -> [Int] {
        let group = by.map { name in attributes.first { $0.name == name }?.value }
        return events.indices.filter { index in
            let event = events[index]
            guard event.at > now - window, event.at <= now, categories.contains(event.category)
            else { return false }
            if let by, let group, event.value(of: by) != group { return false }
            return switch measure {
            case .count: true
            case .sum(let attribute): event.value(of: attribute)?.number != nil
            case .distinct(let attribute): event.value(of: attribute) != nil
            }
        }
    }
}

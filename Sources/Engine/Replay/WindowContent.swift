import Policies
import Time
import TrustInsights

/// What a velocity window held when an action was judged, and the events that filled it.
public struct WindowContent: Sendable {
    /// An event in the window.
    public struct Event: Sendable {
        /// When it was received.
        public var at: Instant
        /// Its evaluation; nil for one of a test's history.
        public var evaluation: Identifier?
        /// Its value of the attribute that is summed or told apart; nil for a count.
        public var value: RecordedValue?
    }

    /// The window.
    public var window: VelocityWindow
    /// What it held, as rules read it.
    public var value: VelocityValue
    /// The span it covers: after `start`, up to and with `end`.
    public var start: Instant
    /// The moment of judging.
    public var end: Instant
    /// With `by`: the value that events must share; nil if the action has none.
    public var group: RecordedValue?
    /// The events, in order of time.
    public var events: [Event]
    /// What the events that are still there give, where that is something else: some were erased.
    public var recomputed: VelocityValue?

    /// All windows of a policy for one evaluation.
    static func all(
        of policy: TrustPolicy, _ record: EvaluationRecord,
        earlier: [(event: VelocityEvent, evaluation: Identifier?)]
    ) -> [WindowContent] {
        let events = VelocityEvents(earlier.map(\.event))
        return zip(policy.velocity, record.velocity).map { window, value in
            let attribute = window.measure.attribute
            let places = window.places(
                of: events, at: record.receivedAt, judging: record.attributes)
            let now = window.value(of: events, at: record.receivedAt, judging: record.attributes)
            return WindowContent(
                window: window, value: value, start: record.receivedAt - window.window,
                end: record.receivedAt,
                group: window.by.flatMap { name in
                    record.attributes.first { $0.name == name }?.value
                },
                events: places.map { place in
                    Event(
                        at: earlier[place].event.at, evaluation: earlier[place].evaluation,
                        value: attribute.flatMap { earlier[place].event.value(of: $0) })
                },
                recomputed: now == value ? nil : now)
        }
    }
}

import Time

/// Reads the `output:` of a trust policy's rule: a literal, so that what a policy can do is known
/// without running it.
struct OutputReader {
    let sink: DiagnosticSink

    func read(_ node: YAMLNode) -> DecisionOutput? {
        guard
            let fields = Fields(
                node, "an output", keys: ["friction", "steps", "holdFor", "notify"], sink: sink)
        else { return nil }
        let friction = fields.required("friction").flatMap {
            Scalars.name($0, "`friction`", among: Friction.allCases.map(\.name), sink)
        }.flatMap(Friction.init(name:))
        let steps = self.steps(fields)
        let hold = self.hold(fields)
        let notify = self.notify(fields)
        guard let friction else { return nil }
        if friction != .increased {
            for key in ["steps", "holdFor"] {
                guard let entry = fields.entry(key), !isEmptyList(entry.value) else { continue }
                sink.error(
                    .needsIncreased, "`\(key)` needs `friction: increased`, not `\(friction.name)`",
                    at: entry.keyRange)
            }
        }
        return DecisionOutput(friction: friction, steps: steps, holdFor: hold, notify: notify)
    }

    private func isEmptyList(_ node: YAMLNode) -> Bool {
        if case .sequence(let items) = node.content { items.isEmpty } else { false }
    }

    private func steps(_ fields: Fields) -> StepSet {
        var steps: [Step] = []
        for item in fields.items("steps") {
            guard
                let name = Scalars.name(
                    item, "a step", among: Step.allCases.map(\.name), sink),
                let step = Step(name: name)
            else { continue }
            if steps.contains(step) {
                sink.error(.duplicateName, "the step `\(name)` is listed twice", at: item.range)
            }
            steps.append(step)
        }
        return StepSet(steps)
    }

    private func hold(_ fields: Fields) -> Duration? {
        guard let node = fields["holdFor"], let hold = fields.duration("holdFor") else {
            return nil
        }
        guard hold > .zero else {
            sink.error(
                .outOfRange, "`holdFor` must be above zero", at: node.range,
                help: "leave it out for no hold")
            return nil
        }
        guard hold <= PolicyLimits.hold else {
            sink.error(
                .holdTooLong, "`holdFor` is longer than \(PolicyLimits.hold.policyText)",
                at: node.range, help: "a longer hold is a block in disguise: use the step `block`")
            return nil
        }
        return hold
    }

    private func notify(_ fields: Fields) -> [String] {
        let items = fields.strings("notify")
        if items.count > PolicyLimits.notify, let node = fields["notify"] {
            sink.error(
                .tooMany, "`notify` lists at most \(PolicyLimits.notify) names", at: node.range)
        }
        var names: [String] = []
        for item in items {
            guard Names.check(item.text, "a name in `notify`", at: item.range, sink) else {
                continue
            }
            if names.contains(item.text) {
                sink.error(.duplicateName, "`\(item.text)` is listed twice", at: item.range)
            } else {
                names.append(item.text)
            }
        }
        return names
    }
}

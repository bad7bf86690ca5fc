import CEL
import Time

/// Reads and checks a policy of kind `reviewPrompt`.
struct ReviewPolicyReader {
    let sink: DiagnosticSink
    /// The zones that exist; nil where that is not known, and any name that looks like one passes.
    let zones: ZoneDatabase?

    static let keys = [
        "kind", "name", "version", "description", "preset", "zone", "limits", "reasons",
        "whileThrottled", "afterGrant", "resetOnVersion", "lease", "holdout", "enabled",
    ]

    private enum Preset: String, CaseIterable {
        case treaty
    }

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> ReviewPromptPolicy? {
        guard let fields = Fields(root, "a review-prompt policy", keys: Self.keys, sink: sink)
        else { return nil }
        let header = Header(fields)
        let preset = fields.choice("preset", Preset.self)
        let zone = fields["zone"].flatMap(zone) ?? .utc
        let reasonEntries = fields.required("reasons") == nil ? [] : fields.mapping("reasons")
        let limits = ReviewLimitReader(sink: sink, reasons: reasonEntries.map(\.key)).read(fields)
        let reasons = ReviewReasonReader(sink: sink, names: reasonEntries.map(\.key))
            .read(reasonEntries)
        if reasonEntries.isEmpty, let node = fields["reasons"], case .mapping = node.content {
            sink.error(.outOfRange, "`reasons` names at least one reason", at: node.range)
        }
        let throttled = fields.choice("whileThrottled", WhileThrottled.self) ?? .drop
        let afterGrant = fields["afterGrant"].flatMap(self.afterGrant) ?? .reset
        let resetOnVersion = fields.choice("resetOnVersion", ResetOnVersion.self) ?? .none
        let lease = fields["lease"].flatMap(self.lease) ?? ReviewLease()
        let holdout = fields["holdout"].flatMap(self.holdout) ?? ReviewHoldout()
        let isEnabled = fields.bool("enabled") ?? true
        guard let header, !sink.hasErrors else { return nil }
        var policy = ReviewPromptPolicy(
            name: header.name, version: header.version, zone: zone, limits: limits,
            reasons: reasons, whileThrottled: throttled, afterGrant: afterGrant,
            resetOnVersion: resetOnVersion, lease: lease, holdout: holdout, isEnabled: isEnabled,
            faults: preset == .treaty ? .treaty : ReviewFaults(), digest: source.digest)
        for (limit, node) in zip(limits, fields.items("limits")) {
            policy.positions[limit.name] = node.range.start
        }
        for entry in reasonEntries { policy.positions[entry.key] = entry.keyRange.start }
        return policy
    }

    private func zone(_ node: YAMLNode) -> ReviewZone? {
        guard let name = Scalars.string(node, "`zone`", sink) else { return nil }
        switch name {
        case "subject": return .subject
        case "UTC": return .utc
        default:
            let exists = zones.map { $0[name] != nil } ?? name.contains("/")
            guard exists else {
                sink.error(
                    .invalidValue, "there is no zone `\(name)`", at: node.range,
                    help: "`zone` is `subject`, `UTC` or a name such as `Europe/London`")
                return nil
            }
            return .named(name)
        }
    }

    private func afterGrant(_ node: YAMLNode) -> AfterGrant? {
        if case .mapping = node.content {
            guard
                let fields = Fields(node, "`afterGrant`", keys: ["requireMore"], sink: sink),
                fields.required("requireMore") != nil
            else { return nil }
            return fields.int("requireMore", in: 1...ReviewPolicyLimits.count)
                .map(AfterGrant.requireMore)
        }
        switch Scalars.name(node, "`afterGrant`", among: ["reset", "none"], sink) {
        case "reset"?: return .reset
        case "none"?: return AfterGrant.none
        default: return nil
        }
    }

    private func lease(_ node: YAMLNode) -> ReviewLease? {
        guard let fields = Fields(node, "`lease`", keys: ["for", "silence"], sink: sink) else {
            return nil
        }
        var lease = ReviewLease()
        if let length = fields.duration("for"), let node = fields["for"] {
            if length > .zero, length <= ReviewPolicyLimits.lease {
                lease.length = length
            } else {
                sink.error(
                    .outOfRange,
                    "a lease is above zero and at most \(ReviewPolicyLimits.lease.policyText)",
                    at: node.range)
            }
        }
        if let silence = fields.choice("silence", ReviewLease.Silence.self) {
            lease.silence = silence
        }
        return lease
    }

    private func holdout(_ node: YAMLNode) -> ReviewHoldout? {
        guard let fields = Fields(node, "`holdout`", keys: ["percent", "salt"], sink: sink) else {
            return nil
        }
        let percent = fields.double("percent") ?? 0
        if !(0...100).contains(percent), let node = fields["percent"] {
            sink.error(.outOfRange, "`percent` is 0 to 100, not \(percent)", at: node.range)
        }
        return ReviewHoldout(percent: percent, salt: fields.string("salt") ?? "")
    }
}

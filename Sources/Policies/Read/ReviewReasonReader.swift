import CEL
import Time

/// Reads `reasons:` of a review-prompt policy.
struct ReviewReasonReader {
    let sink: DiagnosticSink
    /// All names of reasons.
    let names: [String]

    private static let requirementKeys = kinds + ["within"]
    private static let kinds = ["atLeast", "distinctDays", "weighted", "all", "any", "not"]

    func read(_ entries: [YAMLEntry]) -> [ReviewReason] {
        if entries.count > ReviewPolicyLimits.reasons, let first = entries.first {
            sink.error(
                .tooMany, "a policy has at most \(ReviewPolicyLimits.reasons) reasons",
                at: first.keyRange)
        }
        return entries.compactMap(reason)
    }

    private func reason(_ entry: YAMLEntry) -> ReviewReason? {
        let isNamed = Names.checkIdentifier(entry.key, "the reason", at: entry.keyRange, sink)
        if ReviewRuleName.reserved.contains(entry.key) {
            sink.error(
                .reservedName, "`\(entry.key)` is the name of a rule that every policy has",
                at: entry.keyRange, help: "choose another name")
        }
        guard
            let fields = Fields(
                entry.value, "a reason", keys: Self.requirementKeys + ["when"], sink: sink)
        else { return nil }
        let when = fields["when"].flatMap(DonationConditionReader(sink: sink, reasons: names).read)
        var parts = 0
        let requirement = self.requirement(fields, reason: entry.key, depth: 1, parts: &parts)
        if parts > ReviewPolicyLimits.requirementParts {
            sink.error(
                .tooMany,
                "a requirement has at most \(ReviewPolicyLimits.requirementParts) parts",
                at: entry.keyRange)
        }
        guard isNamed, let requirement else { return nil }
        return ReviewReason(name: entry.key, requirement: requirement, when: when)
    }

    /// `reason` is what plain counts are of; nil inside `all`, `any` and `not`, whose parts name it.
    private func requirement(
        _ fields: Fields, reason: String?, depth: Int, parts: inout Int
    ) -> ReviewRequirement? {
        parts += 1
        guard depth <= ReviewPolicyLimits.requirementDepth else {
            sink.error(
                .tooDeep, "requirements nest at most \(ReviewPolicyLimits.requirementDepth) deep",
                at: fields.headRange)
            return nil
        }
        let kinds = Self.kinds.filter(fields.has)
        guard kinds.count == 1, let kind = kinds.first, let node = fields[kind] else {
            sink.error(
                kinds.isEmpty ? .missingKey : .invalidValue,
                "\(fields.what) needs one of "
                    + Self.kinds.map { "`\($0)`" }.joined(separator: ", "),
                at: fields.headRange)
            return nil
        }
        switch kind {
        case "atLeast", "distinctDays":
            return reason.flatMap { counted(fields, kind, of: $0) }
        case "weighted":
            return weighted(node, parts: &parts)
        case "not":
            return part(node, depth: depth + 1, parts: &parts).map(ReviewRequirement.not)
        default:
            let items = Scalars.items(node, "`\(kind)`", sink)
            if items.isEmpty, case .sequence = node.content {
                sink.error(.outOfRange, "`\(kind)` lists at least one part", at: node.range)
            }
            var read: [ReviewRequirement] = []
            for item in items {
                if let part = part(item, depth: depth + 1, parts: &parts) { read.append(part) }
            }
            guard read.count == items.count, !read.isEmpty else { return nil }
            return kind == "all" ? .all(read) : .any(read)
        }
    }

    private func counted(_ fields: Fields, _ kind: String, of reason: String) -> ReviewRequirement?
    {
        let within = fields.has("within") ? span(fields) : nil
        if kind == "atLeast" {
            let most =
                fields.has("within") ? ReviewPolicyLimits.windowedCount : ReviewPolicyLimits.count
            guard let count = fields.int("atLeast", in: 1...most) else { return nil }
            if fields.has("within"), within == nil { return nil }
            return .count(reason: reason, atLeast: count, within: within)
        }
        guard fields.required("within") != nil, let within,
            let days = fields.int("distinctDays", in: 1...ReviewPolicyLimits.windowedCount)
        else { return nil }
        let day = Duration.days(1).milliseconds
        guard within.milliseconds % day == 0,
            within.milliseconds / day >= Int64(days)
        else {
            sink.error(
                .invalidValue, "`within` must be whole days, at least \(days) of them",
                at: fields["within"]?.range ?? fields.headRange)
            return nil
        }
        return .distinctDays(
            reason: reason, atLeast: days, withinDays: Int(within.milliseconds / day))
    }

    private func weighted(_ node: YAMLNode, parts: inout Int) -> ReviewRequirement? {
        guard
            let fields = Fields(
                node, "`weighted`", keys: ["points", "atLeast", "within"], sink: sink),
            fields.required("points") != nil, fields.required("atLeast") != nil
        else { return nil }
        let within = fields.has("within") ? span(fields) : nil
        let entries = fields.mapping("points")
        if entries.isEmpty, let node = fields["points"], case .mapping = node.content {
            sink.error(.outOfRange, "`points` names at least one reason", at: node.range)
        }
        parts += entries.count
        var points: [ReviewPoints] = []
        for entry in entries where isDeclared(entry) {
            let worth = Scalars.int(
                entry.value, "the points of `\(entry.key)`", in: 1...ReviewPolicyLimits.points, sink
            )
            if let worth { points.append(ReviewPoints(entry.key, worth)) }
        }
        let most =
            fields.has("within") ? ReviewPolicyLimits.windowedCount : ReviewPolicyLimits.count
        guard let atLeast = fields.int("atLeast", in: 1...most), !points.isEmpty,
            points.count == entries.count, !fields.has("within") || within != nil
        else { return nil }
        return .weighted(points, atLeast: atLeast, within: within)
    }

    private func isDeclared(_ entry: YAMLEntry) -> Bool {
        if names.contains(entry.key) { return true }
        sink.error(
            .undeclaredReason, "there is no reason `\(entry.key)`", at: entry.keyRange,
            help: NearestName.help(entry.key, among: names, what: "reasons"))
        return false
    }

    private func span(_ fields: Fields) -> Duration? {
        guard let node = fields["within"], let span = fields.duration("within") else { return nil }
        guard span > .zero, span <= ReviewPolicyLimits.window else {
            sink.error(
                .outOfRange,
                "`within` must be above zero and at most \(ReviewPolicyLimits.window.policyText)",
                at: node.range)
            return nil
        }
        return span
    }

    /// One part of `all`, `any` or `not`: `{finishedTranscript: 2}`, `{exportedVideo: {…}}`, or
    /// again one of the three.
    private func part(_ node: YAMLNode, depth: Int, parts: inout Int) -> ReviewRequirement? {
        let entries = Scalars.entries(node, "a part", sink)
        guard entries.count == 1, let entry = entries.first else {
            if case .mapping = node.content {
                sink.error(
                    .invalidValue, "a part names one reason", at: node.range,
                    help: "write `{finishedTranscript: 2}`")
            }
            return nil
        }
        if ["weighted", "all", "any", "not"].contains(entry.key) {
            guard let fields = Fields(node, "a part", keys: Self.requirementKeys, sink: sink) else {
                return nil
            }
            return requirement(fields, reason: nil, depth: depth, parts: &parts)
        }
        guard isDeclared(entry) else { return nil }
        if case .mapping = entry.value.content {
            guard
                let fields = Fields(
                    entry.value, "a count", keys: ["atLeast", "within", "distinctDays"], sink: sink)
            else { return nil }
            return requirement(fields, reason: entry.key, depth: depth, parts: &parts)
        }
        parts += 1
        return Scalars.int(
            entry.value, "the count of `\(entry.key)`", in: 1...ReviewPolicyLimits.count, sink
        ).map { .count(reason: entry.key, atLeast: $0, within: nil) }
    }
}

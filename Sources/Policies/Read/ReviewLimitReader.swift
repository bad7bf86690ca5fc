import Time

/// Reads `limits:` of a review-prompt policy.
struct ReviewLimitReader {
    let sink: DiagnosticSink
    /// The names of the policy's reasons, which limits may not take.
    let reasons: [String]

    private static let kinds = ["max", "atLeast", "sinceInstall", "after"]

    func read(_ fields: Fields) -> [ReviewLimit] {
        var taken: Set<String> = []
        var result: [ReviewLimit] = []
        let items = fields.items("limits")
        if items.count > ReviewPolicyLimits.limits, let node = fields["limits"] {
            sink.error(
                .tooMany, "a policy has at most \(ReviewPolicyLimits.limits) limits", at: node.range
            )
        }
        for item in items {
            guard let (limit, range) = limit(item, taken) else { continue }
            if !taken.insert(limit.name).inserted {
                sink.error(.duplicateName, "the limit `\(limit.name)` is given twice", at: range)
            }
            result.append(limit)
        }
        return result
    }

    private func limit(_ node: YAMLNode, _ taken: Set<String>) -> (ReviewLimit, SourceRange)? {
        guard case .mapping(let entries) = node.content else {
            sink.error(
                .wrongType, "a limit must be a mapping, not \(node.typeName)", at: node.range)
            return nil
        }
        guard let kind = Self.kinds.first(where: { kind in entries.contains { $0.key == kind } })
        else {
            sink.error(
                .missingKey,
                "a limit needs one of " + Self.kinds.map { "`\($0)`" }.joined(separator: ", "),
                at: entries.first?.keyRange ?? node.range)
            return nil
        }
        let isPerVersion = entries.contains { $0.key == "per" }
        let keys: [String] =
            switch kind {
            case "max" where isPerVersion: ["name", "max", "per", "grain", "scope"]
            case "max": ["name", "max", "within", "scope", "per", "grain"]
            case "atLeast": ["name", "atLeast", "unit", "scope"]
            case "sinceInstall": ["name", "sinceInstall"]
            default: ["name", "after", "reason", "for", "until", "grain"]
            }
        guard let fields = Fields(node, "a limit with `\(kind)`", keys: keys, sink: sink) else {
            return nil
        }
        let read: ReviewLimit.Kind? =
            switch kind {
            case "max": isPerVersion ? perVersion(fields) : max(fields)
            case "atLeast": interval(fields)
            case "sinceInstall":
                span(fields, "sinceInstall").map(ReviewLimit.Kind.sinceInstall)
            default: suppression(fields)
            }
        let name = self.name(fields, derivedFrom: isPerVersion ? "perVersion" : kind, taken)
        guard let name, let read else { return nil }
        return (ReviewLimit(name: name, kind: read), fields["name"]?.range ?? fields.headRange)
    }

    private func name(
        _ fields: Fields, derivedFrom kind: String, _ taken: Set<String>
    ) -> String? {
        guard let node = fields["name"] else {
            let base: String =
                switch kind {
                case "atLeast": "interval"
                case "after": "after-" + (fields["after"]?.scalar?.text ?? "")
                default: kind
                }
            var name = base
            var number = 1
            while taken.contains(name) {
                number += 1
                name = "\(base)-\(number)"
            }
            return name
        }
        guard let name = fields.string("name"), Names.check(name, "the name", at: node.range, sink)
        else { return nil }
        if ReviewRuleName.reserved.contains(name) || reasons.contains(name) {
            let owner = reasons.contains(name) ? "a reason" : "a rule that every policy has"
            sink.error(
                .reservedName, "`\(name)` is the name of \(owner)", at: node.range,
                help: "verdicts are told apart by name: choose another")
        }
        return name
    }

    private func scope(_ fields: Fields) -> ReviewScope {
        fields.choice("scope", ReviewScope.self) ?? .both
    }

    private func count(_ fields: Fields) -> Int? {
        fields.int("max", in: 1...ReviewPolicyLimits.maxGrants)
    }

    private func max(_ fields: Fields) -> ReviewLimit.Kind? {
        let within = fields.has("within") ? span(fields, "within") : nil
        guard let count = count(fields), !fields.has("within") || within != nil else { return nil }
        return .max(count: count, within: within, scope: scope(fields))
    }

    private func perVersion(_ fields: Fields) -> ReviewLimit.Kind? {
        _ = fields["per"].flatMap { Scalars.name($0, "`per`", among: ["version"], sink) }
        let grain = fields.choice("grain", VersionGrain.self) ?? .full
        return count(fields).map { .perVersion(count: $0, grain: grain, scope: scope(fields)) }
    }

    private func interval(_ fields: Fields) -> ReviewLimit.Kind? {
        let unit = fields["unit"].flatMap {
            Scalars.name($0, "`unit`", among: ["elapsed", "calendarDay"], sink)
        }
        guard let node = fields["atLeast"], let span = span(fields, "atLeast") else { return nil }
        guard unit == "calendarDay" else { return .interval(.elapsed(span), scope: scope(fields)) }
        let day = Duration.days(1).milliseconds
        guard span.milliseconds % day == 0 else {
            sink.error(
                .invalidValue, "days of the calendar are whole", at: node.range,
                help: "write a number of days such as `7d`, or `unit: elapsed`")
            return nil
        }
        return .interval(.calendarDays(Int(span.milliseconds / day)), scope: scope(fields))
    }

    private func suppression(_ fields: Fields) -> ReviewLimit.Kind? {
        guard let event = fields.requiredString("after") else { return nil }
        let reason = fields.string("reason")
        if reason != nil, event != "notRequested", let entry = fields.entry("reason") {
            sink.error(
                .invalidValue, "`reason` goes with `after: notRequested` only", at: entry.keyRange)
        }
        let trigger: ReviewSuppression.Trigger =
            switch event {
            case "requested": .requested
            case "notRequested": .notRequested(reason: reason)
            default: .event(event)
            }
        return end(fields).map { .suppression(ReviewSuppression(after: trigger, until: $0)) }
    }

    private func end(_ fields: Fields) -> ReviewSuppression.End? {
        switch (fields["for"], fields["until"]) {
        case (_?, nil): return span(fields, "for").map(ReviewSuppression.End.elapsed)
        case (nil, let until?):
            let name = Scalars.name(until, "`until`", among: ["nextVersion", "never"], sink)
            let grain = fields.choice("grain", VersionGrain.self) ?? .full
            return name.map { $0 == "never" ? .never : .nextVersion(grain) }
        default:
            sink.error(
                .missingKey, "a limit with `after` needs either `for` or `until`",
                at: fields.headRange)
            return nil
        }
    }

    private func span(_ fields: Fields, _ key: String) -> Duration? {
        guard let node = fields[key], let span = fields.duration(key) else { return nil }
        guard span > .zero, span <= ReviewPolicyLimits.window else {
            sink.error(
                .outOfRange,
                "`\(key)` must be above zero and at most \(ReviewPolicyLimits.window.policyText)",
                at: node.range)
            return nil
        }
        return span
    }
}

import JSON
import Policies
import Time

// What is told of policies, to callers and at the command line.

extension Directory {
    /// Candidates, and what acts where; for an app what concerns it, for an operator all.
    public func policiesAnswer(for tenant: Tenant?) -> JSONValue {
        let acting = registry.activations.filter {
            tenant == nil || $0.tenant == nil || $0.tenant == tenant
        }
        return [
            "candidates": .array(catalog.all.map(\.answer)),
            "acting": .array(acting.map(\.answer)),
        ]
    }

    /// The latest changes of what acts, the newest first; of one policy, if it is named.
    public func historyAnswer(for tenant: Tenant?, name: String?, limit: Int) -> JSONValue {
        let changes = registry.history.reversed().lazy.filter {
            (tenant == nil || $0.tenant == nil || $0.tenant == tenant)
                && (name == nil || $0.policy.name == name || $0.replacement?.name == name)
        }
        return ["changes": .array(changes.prefix(limit).map(\.answer))]
    }
}

extension Candidate {
    fileprivate var answer: JSONValue {
        var object = reference.members
        object["kind"] = .string(actingKind?.kind.rawValue ?? "model")
        if let categories = actingKind?.categories, !categories.isEmpty {
            object["categories"] = .array(categories.map { .string($0.rawValue) })
        }
        return .object(object)
    }
}

extension RegistryView.Activation {
    fileprivate var answer: JSONValue {
        var object = policy.members
        object.name(tenant)
        object["category"] = category.map { .string($0.rawValue) } ?? "reviewPrompt"
        if isShadow { object["shadow"] = true }
        object["since"] = .string(since.rfc3339)
        object["actor"] = .string(actor)
        object["reason"] = .string(reason)
        object["sequence"] = .int(sequence)
        return .object(object)
    }
}

extension ActingEvent {
    fileprivate var answer: JSONValue {
        var object: JSONObject = ["change": .string(kind.rawValue)]
        for member in policy.members.members { object[member.key] = member.value }
        if let replacement { object["to"] = replacement.json }
        object.name(tenant)
        object["categories"] = .array(
            categories.isEmpty ? ["reviewPrompt"] : categories.map { .string($0.rawValue) })
        if isShadow { object["shadow"] = true }
        object["at"] = .string(at.rfc3339)
        object["actor"] = .string(actor)
        object["reason"] = .string(reason)
        object["guards"] = check?.answer
        object["sequence"] = .int(sequence)
        return .object(object)
    }
}

extension ActivationRecord {
    /// What began to act, and what the guards found.
    public var answer: JSONValue {
        var object: JSONObject = [
            "policy": policy.json,
            "categories": .array(categories.map { .string($0.rawValue) }),
            "shadow": .bool(isShadow),
        ]
        object["guards"] = check?.answer
        return .object(object)
    }
}

extension DeactivationRecord {
    /// What no longer acts where.
    public var answer: JSONValue {
        ["shadow": .bool(isShadow), "changes": .array(changes.map(\.answer))]
    }
}

extension RollbackRecord {
    /// What acts where instead of what.
    public var answer: JSONValue { ["changes": .array(changes.map(\.answer))] }
}

extension ActingChange {
    fileprivate var answer: JSONValue {
        var object: JSONObject = [
            "category": category.map { .string($0.rawValue) } ?? "reviewPrompt",
            "from": from.json,
        ]
        object["to"] = to?.json
        return .object(object)
    }
}

extension GuardCheck {
    /// The figures, what was allowed, and what that overrode.
    fileprivate var answer: JSONValue {
        var object: JSONObject = [
            "allow": .array(allow.map { .string($0.rawValue) }),
            "overridden": .array(overridden.map { .string($0.rawValue) }),
            "judged": .int(judged),
        ]
        guard let tests else { return .object(object) }
        object["tests"] = [
            "passed": .int(tests.passed), "failed": .int(tests.failed),
            "rules": tests.rules.answer, "branches": tests.branches.answer,
            "digest": .string(tests.digest),
        ]
        return .object(object)
    }
}

extension TestEvidence.Part {
    fileprivate var answer: JSONValue { ["covered": .int(covered), "of": .int(of)] }
}

extension VersionReference {
    fileprivate var members: JSONObject {
        ["name": .string(name), "version": .int(version), "digest": .string(digest)]
    }
}

extension JSONObject {
    fileprivate mutating func name(_ tenant: Tenant?) {
        self["app"] = tenant.map { .string($0.app) }
        self["environment"] = tenant.map { .string($0.environment.rawValue) }
    }
}

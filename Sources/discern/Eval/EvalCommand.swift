import CEL
import Engine
import JSON
import Policies
import Time
import TrustInsights

/// `discern eval`: what a policy makes of one input.
enum EvalCommand {
    static var command: Command {
        Command(
            name: "eval", summary: "Show what a policy makes of one input, rule by rule.",
            positional: "PATH…",
            options: [
                .value("policy", nil, "NAME", "which policy, if the paths hold several"),
                .value(
                    "input", "i", "JSON", "the input: JSON text, a file, or - for standard input"),
                .value("format", "f", "FORMAT", "pretty (default) or json"),
            ],
            discussion: """
                The input has the members of a test's `input`, and may have `now` and `history`:
                  discern eval Policies --policy transcripts-payments --input '{
                    "device": {"value": 0.97},
                    "attributes": {"amount": 900.0, "currency": "EUR", "newPayee": true}}'
                For a plain CEL policy it is an object of its variables.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let paths = arguments.positional.isEmpty ? ["Policies"] : arguments.positional
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let set: PolicySet
        switch try PolicyFiles.load(paths, zones: SystemZones.load()) {
        case .invalid(let report):
            Terminal.say(report)
            return ExitStatus.invalidPolicies
        case .loaded(let loaded): set = loaded
        }
        let input = try input(arguments)
        switch try policy(arguments["policy"], of: set) {
        case .trust(let policy): return try evaluate(policy, set, input, format)
        case .plain(let policy): return evaluate(policy, input)
        case .reviewPrompt(let policy):
            throw UsageError(
                "`\(policy.name)` is a review-prompt policy, which judges histories, not one "
                    + "input: write a test for it, see `discern test --help`")
        }
    }

    private static func policy(_ name: String?, of set: PolicySet) throws -> Policy {
        if let name {
            guard let policy = set.policy(name) else {
                throw UsageError("there is no policy `\(name)`; there are \(names(set))")
            }
            return policy
        }
        let trust = set.policies.filter { if case .reviewPrompt = $0 { false } else { true } }
        guard trust.count == 1 else { throw UsageError("--policy is one of \(names(set))") }
        return trust[0]
    }

    private static func names(_ set: PolicySet) -> String {
        set.policies.map(\.reference).joined(separator: ", ")
    }

    private static func input(_ arguments: Arguments) throws -> JSONValue {
        guard let given = arguments["input"] else { throw UsageError("--input is needed") }
        let bytes: [UInt8]
        if given == "-" {
            bytes = Files.read("/dev/stdin") ?? []
        } else if given.first == "{" || given.first == "[" {
            bytes = Array(given.utf8)
        } else {
            guard let read = Files.read(given) else {
                throw UsageError("--input: `\(given)` is neither JSON nor a file that can be read")
            }
            bytes = read
        }
        do {
            return try JSONReader.parse(bytes)
        } catch {
            throw UsageError("--input: \(error.pointer): \(error.message)")
        }
    }

    // MARK: Kinds of policies

    private static func evaluate(
        _ policy: TrustPolicy, _ set: PolicySet, _ input: JSONValue, _ format: String
    ) throws -> Int32 {
        let trial = Trial(policy, in: set)
        let record: EvaluationRecord
        do {
            record = try trial.judge(try EvalInput.test(input, policy: policy))
        } catch {
            throw UsageError("--input: \(CommandRefused(refusal: error))")
        }
        let rules = trial.rules(of: record)
        if format == "json" {
            let answer: JSONValue = [
                "outcome": .string((record.acting.outcome ?? .unknown).rawValue),
                "score": record.acting.score.map { .double($0) } ?? .null,
                "degraded": .bool(record.acting.degraded != nil),
                "decision": record.decision.json,
                "shadowDecision": record.shadowDecision?.json ?? .null, "rules": rules,
            ]
            Terminal.print(answer.text)
        } else {
            Terminal.print(pretty(record, rules, policy))
        }
        return ExitStatus.fine
    }

    private static func pretty(
        _ record: EvaluationRecord, _ rules: JSONValue, _ policy: TrustPolicy
    ) -> String {
        let output = record.decision.output
        var lines = ["\(policy.reference)"]
        let score = record.acting.score.map { "  score \($0)" } ?? ""
        lines.append("outcome   \((record.acting.outcome ?? .unknown).rawValue)\(score)")
        for part in record.acting.contributions {
            lines.append("            \(part.input) \(part.value)")
        }
        let steps = output.steps.steps.map(\.name).joined(separator: ", ")
        lines.append("friction  \(output.friction.name)" + (steps.isEmpty ? "" : "  \(steps)"))
        if let hold = output.holdFor { lines.append("hold      \(hold.policyText)") }
        if !output.notify.isEmpty {
            lines.append("notify    \(output.notify.joined(separator: ", "))")
        }
        for reason in record.decision.reasons {
            let text = [reason.explanation, reason.note].compactMap { $0 }.joined(separator: " — ")
            lines.append("reason    \(reason.rule)" + (text.isEmpty ? "" : ": \(text)"))
        }
        for (window, value) in zip(policy.velocity, record.velocity) {
            switch value {
            case .count(let count): lines.append("velocity  \(window.name) \(count)")
            case .sum(let sum): lines.append("velocity  \(window.name) \(sum)")
            }
        }
        lines.append("rules")
        lines += (rules.arrayValue ?? []).map { "  " + TestReport.line($0) }
        return lines.joined(separator: "\n")
    }

    private static func evaluate(_ policy: PlainPolicy, _ input: JSONValue) -> Int32 {
        let inputs = (input.objectValue?.members ?? []).map {
            (name: $0.key, value: Value($0.value))
        }
        switch policy.evaluate(inputs) {
        case .success(.optional(let value?)):
            // A policy that may give no result gives an optional; what it holds is the result.
            Terminal.print(value.text)
            return ExitStatus.fine
        case .success(let value):
            Terminal.print(value.text)
            return ExitStatus.fine
        case .failure(let error):
            Terminal.say("the policy failed: \(error.message)")
            return ExitStatus.failure
        }
    }
}

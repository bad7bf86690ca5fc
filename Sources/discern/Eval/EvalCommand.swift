import CEL
import Engine
import Glibc
import JSON
import Policies
import Time
import TrustInsights

/// `discern eval`: what a policy makes of one input.
enum EvalCommand {
    static var command: Command {
        Command(
            name: "eval", summary: "Show what a policy makes of one input, rule by rule.",
            positional: "[PATH…]",
            options: [
                .value("policy", nil, "NAME", "which policy, if the paths hold several"),
                .value(
                    "input", "i", "JSON", "the input: JSON text, a file, or - for standard input"),
                .value("set", "s", "NAME=VALUE", "one value, such as attributes.amount=900; again"),
                .value("device", nil, "N", "the device result, 0 to 1"),
                .value("outcome", nil, "OUTCOME", "in the model's place: unknown, medium or high"),
                .value("score", nil, "N", "with --outcome, the score"),
                .value("category", nil, "NAME", "the category (the policy's first)"),
                .value("authorization", nil, "STATUS", "authorized (default), denied, …"),
                .value("now", nil, "TIME", "the moment of judging (2026-01-01T00:00:00Z)"),
                .value("format", "f", "FORMAT", "pretty (default) or json"),
            ],
            discussion: """
                  discern eval Policies --policy transcripts-payments --device 0.97 \\
                    -s attributes.amount=900 -s attributes.currency=EUR -s attributes.newPayee=true

                An input as JSON has the members of a test's `input`, and may have `now` and
                `history`; options go before it:
                  discern eval Policies --policy transcripts-payments --input '{
                    "device": {"value": 0.97},
                    "attributes": {"amount": 900.0, "currency": "EUR", "newPayee": true},
                    "history": [{"at": "-10m", "attributes": {"amount": 20.0, "currency": "EUR"}}]}'
                For a plain CEL policy it is an object of its variables.

                Every rule is shown with the value of each sub-expression; what a short cut passed
                over is marked as not evaluated, and what was missing is named.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let paths = arguments.paths
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
        switch try policy(arguments["policy"], of: set) {
        case .trust(let policy):
            return try evaluate(policy, set, try EvalInput.json(arguments, for: policy), format)
        case .plain(let policy):
            return evaluate(policy, try EvalInput.json(arguments, for: nil), format)
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

    // MARK: Kinds of policies

    private static func evaluate(
        _ policy: TrustPolicy, _ set: PolicySet, _ input: JSONValue, _ format: String
    ) throws -> Int32 {
        let trial = Trial(policy, in: set)
        let record: EvaluationRecord
        let windows: [WindowContent]
        do {
            let test = try EvalInput.test(input, policy: policy)
            record = try trial.judge(test)
            windows = try trial.windows(of: test, record)
        } catch {
            let lacking = EvalInput.lacking(input, policy)
            // Here the input is JSON, and a pointer says where in it.
            let place = error.field.map { "\($0): " } ?? ""
            var refusal = error
            refusal.field = nil
            throw UsageError(
                "the input is refused: \(place)\(CommandRefused(refusal: refusal))"
                    + (lacking.isEmpty ? "" : "; it lacks " + lacking.joined(separator: ", ")))
        }
        let trace = trial.trace(of: record)
        guard format == "json" else {
            let lines = DecisionText.lines(record, policy, windows, trace)
            Terminal.print(([policy.reference, ""] + lines).joined(separator: "\n"))
            return ExitStatus.fine
        }
        let answer: JSONValue = [
            "policy": .string(policy.reference),
            "outcome": .string((record.acting.outcome ?? .unknown).rawValue),
            "score": record.acting.score.map { .double($0) } ?? .null,
            "contributions": DecisionText.contributions(record.acting),
            "missingInputs": .array(record.acting.missing.map { .string($0) }),
            "degraded": .bool(record.acting.degraded != nil),
            "decision": record.decision.json,
            "shadowDecision": record.shadowDecision?.json ?? .null,
            "rules": trial.rules(of: record), "windows": DecisionText.json(windows),
            "trace": TraceText.json(trace),
        ]
        Terminal.print(answer.text)
        return ExitStatus.fine
    }

    /// The result alone is on standard output, for scripts; how it came about is beside it.
    private static func evaluate(_ policy: PlainPolicy, _ input: JSONValue, _ format: String)
        -> Int32
    {
        let inputs = (input.objectValue?.members ?? []).map {
            (name: $0.key, value: Value($0.value))
        }
        let trace = PolicyTrace(policy, inputs)
        let outcome = policy.evaluate(inputs)
        if format == "json" {
            var object: JSONObject = ["policy": .string(policy.name)]
            switch outcome {
            case .success(let value): object["result"] = .string(held(value).text)
            case .failure(let failure): object["error"] = .string(failure.error.message)
            }
            object["trace"] = TraceText.json(trace)
            Terminal.print(JSONValue.object(object).text)
        } else {
            if case .success(let value) = outcome { Terminal.print(held(value).text) }
            Terminal.say(TraceText.lines(trace).joined(separator: "\n"))
        }
        guard case .failure(let failure) = outcome else { return ExitStatus.fine }
        let rendered = policy.rendered(
            failure, colour: Terminal.hasColour, columns: Terminal.columns(of: STDERR_FILENO))
        Terminal.write("the policy failed:\n" + rendered, to: STDERR_FILENO)
        return ExitStatus.failure
    }

    /// A policy that may give no result gives an optional; what it holds is the result.
    private static func held(_ value: Value) -> Value {
        if case .optional(let value?) = value { value } else { value }
    }
}

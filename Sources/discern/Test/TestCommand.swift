import Engine
import JSON
import Policies
import ReviewPrompts
import Time

/// `discern test`: runs the tests that lie beside policies.
enum TestCommand {
    static var command: Command {
        Command(
            name: "test", summary: "Run the tests beside policies.", positional: "PATH…",
            options: [
                .value("run", "r", "TEXT", "only tests whose policy, section or name contains it"),
                .value("format", "f", "FORMAT", "pretty (default), json or junit"),
                .flag("verbose", "v", "name the tests that pass as well"),
            ],
            discussion: """
                A failing test shows what was expected and what came, and every rule's verdict
                with the values it read.
                Exit status: 0 all passed, 3 a file is invalid, 4 a test failed, 5 no test ran.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json", "junit"].contains(format) else {
            throw UsageError("--format is pretty, json or junit, not `\(format)`")
        }
        let paths = arguments.positional.isEmpty ? ["Policies"] : arguments.positional
        let zones = SystemZones.load()
        let set: PolicySet
        switch try PolicyFiles.load(paths, zones: zones) {
        case .invalid(let report):
            Terminal.say(report)
            return ExitStatus.invalidPolicies
        case .loaded(let loaded): set = loaded
        }
        let results = Self.results(of: set, zones: zones, matching: arguments["run"])
        switch format {
        case "json": Terminal.print(TestReport.json(results).text)
        case "junit": Terminal.print(TestReport.junit(results))
        default: Terminal.print(TestReport.pretty(results, isVerbose: arguments.has("verbose")))
        }
        // A failure wins over everything else that may be said.
        if results.contains(where: { !$0.failures.isEmpty }) { return ExitStatus.testsFailed }
        if results.isEmpty {
            Terminal.say("no test ran")
            return ExitStatus.nothingTested
        }
        return ExitStatus.fine
    }

    private static func results(of set: PolicySet, zones: ZoneDatabase, matching text: String?)
        -> [PolicyTestResult]
    {
        set.tests.flatMap { tests -> [PolicyTestResult] in
            switch tests {
            case .trust(let tests):
                guard case .trust(let policy)? = set.policy(tests.policy) else { return [] }
                return tests.run(policy, in: set) { section, name in
                    matches(text, policy.name, section, name)
                }
            case .reviewPrompt(let tests, let path):
                guard case .reviewPrompt(let policy)? = set.policy(tests.policy) else { return [] }
                let results = ReviewPrompts.run(tests, policy: policy, zones: zones) {
                    matches(text, policy.name, $0, $1)
                }
                return results.map { result in
                    PolicyTestResult(
                        path: path, line: result.failures.first?.line ?? 0,
                        policy: policy.reference, section: result.section, name: result.name,
                        failures: result.failures.map { failure in
                            (failure.step.map { "step \($0 + 1): " } ?? "") + failure.message
                        })
                }
            case .plain(let tests):
                guard case .plain(let policy)? = set.policy(tests.policy) else { return [] }
                return tests.run(policy) {
                    matches(text, policy.name, $0, $1)
                }
            }
        }
    }

    private static func matches(_ text: String?, _ names: String...) -> Bool {
        guard let text else { return true }
        return names.contains { $0.contains(text) }
    }
}

extension PolicyFiles {
    /// What reading and checking gave.
    enum Loaded {
        case loaded(PolicySet)
        case invalid(report: String)
    }

    /// Reads and checks what lies below paths.
    static func load(_ paths: [String], zones: ZoneDatabase) throws -> Loaded {
        switch read(paths) {
        case .failure(let problem): throw problem
        case .success(let found):
            let load = PolicyLoader(zones: zones).load(found.files)
            guard let set = load.set else {
                return .invalid(report: load.rendered(colour: false))
            }
            return .loaded(set)
        }
    }
}

extension PolicyFiles.Problem: CustomStringConvertible {
    var description: String { "\(path): \(message)" }
}

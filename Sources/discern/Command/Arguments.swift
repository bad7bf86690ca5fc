import Glibc

/// An option that a command takes.
struct Option {
    /// The long name, without dashes.
    var name: String
    /// The short name, without dash.
    var short: Character?
    /// What its value is called in the help; `nil` for a flag.
    var value: String?
    /// What it does.
    var help: String
    /// Whether the environment may say it. What overrides a guard must be said each time.
    var isFromEnvironment = true

    /// The environment variable that says the same.
    var variable: String {
        "DISCERN_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    static func flag(_ name: String, _ short: Character? = nil, _ help: String) -> Option {
        Option(name: name, short: short, value: nil, help: help)
    }

    static func value(
        _ name: String, _ short: Character? = nil, _ value: String, _ help: String,
        isFromEnvironment: Bool = true
    ) -> Option {
        Option(
            name: name, short: short, value: value, help: help,
            isFromEnvironment: isFromEnvironment)
    }
}

/// A command: what it is called, what it takes, what it does.
struct Command {
    /// The words that call it: `audit query`.
    var name: String
    /// What it does, in one line.
    var summary: String
    /// What its positional arguments are called; empty for none.
    var positional = ""
    var options: [Option] = []
    /// More to know, shown by `--help`.
    var discussion = ""
    /// Runs it and gives the exit status.
    var run: (Arguments) throws -> Int32

    /// The text of `--help`.
    var help: String {
        var text = "\(summary)\n\nusage: discern \(name)"
        if !options.isEmpty { text += " [options]" }
        if !positional.isEmpty { text += " \(positional)" }
        text += "\n"
        if !options.isEmpty {
            let others = options.filter { !$0.isFromEnvironment }.map { "--" + $0.name }
            let but = others.isEmpty ? "" : " but " + others.joined(separator: ", ")
            text += "\noptions (each\(but) also an environment variable: --data is DISCERN_DATA):\n"
            let names = options.map { option in
                (option.short.map { "-\($0), " } ?? "    ") + "--\(option.name)"
                    + (option.value.map { " \($0)" } ?? "")
            }
            let width = names.map(\.count).max() ?? 0
            for (option, name) in zip(options, names) {
                let lines = Layout.beside("  " + Figures.left(name, width) + "  ", option.help)
                text += lines.joined(separator: "\n") + "\n"
            }
        }
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        return text
    }
}

/// What is wrong with a command line.
struct UsageError: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

/// The arguments of a command, read.
struct Arguments {
    private(set) var positional: [String] = []
    private var values: [String: [String]] = [:]
    /// The options that stand on the command line, and are not taken from the environment.
    private var given: Set<String> = []

    /// Reads the words after a command's name. Options not given are taken from the environment.
    init(_ words: [String], for command: Command) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positional += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                positional.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let option = try Self.option(parts[0], of: command)
            guard option.value != nil else {
                if parts.count > 1 { throw UsageError("--\(option.name) takes no value") }
                values[option.name] = ["true"]
                continue
            }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                throw UsageError("--\(option.name) needs \(option.value ?? "a value")")
            }
            values[option.name, default: []].append(value)
        }
        if command.positional.isEmpty, let extra = positional.first {
            throw UsageError("`\(extra)` is not expected here")
        }
        given = Set(values.keys)
        for option in command.options
        where option.isFromEnvironment && values[option.name] == nil {
            if let text = getenv(option.variable) {
                values[option.name] = [String(cString: text)]
            }
        }
    }

    private static func option(_ word: String, of command: Command) throws(UsageError) -> Option {
        for option in command.options {
            if word == "--" + option.name { return option }
            if let short = option.short, word == "-\(short)" { return option }
        }
        let known = command.options.map { "--" + $0.name }
        throw UsageError(
            "unknown option `\(word)`"
                + (known.isEmpty ? "" : "; there are " + known.joined(separator: ", ")))
    }

    /// The value of an option; the last, if it is given several times.
    subscript(name: String) -> String? { values[name]?.last }

    /// The files and folders that are named, else the folder that is looked into by default.
    var paths: [String] { positional.isEmpty ? ["Policies"] : positional }

    /// Whether an option stands on the command line itself.
    func isGiven(_ name: String) -> Bool { given.contains(name) }

    /// All values of an option.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Whether a flag is set.
    func has(_ name: String) -> Bool {
        guard let value = values[name]?.last else { return false }
        return value != "false" && value != "0" && !value.isEmpty
    }

    /// A number in a range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name) needs a whole number from \(range.lowerBound) to \(range.upperBound), "
                    + "not `\(text)`"
            )
        }
        return number
    }
}

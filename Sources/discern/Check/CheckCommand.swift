import Glibc
import JSON
import Policies
import Time

/// `discern check PATH… [-f pretty|json]`: loads policies, models and tests and says what is wrong.
///
/// Findings go to standard error as text, or to standard output as one JSON document. Gives the
/// exit status: 0 fine (warnings included), 1 a file cannot be read, 2 usage, 3 policies invalid.
func check(arguments: [String]) -> Int32 {
    var paths: [String] = []
    var format = "pretty"
    var rest = arguments[...]
    while let argument = rest.popFirst() {
        switch argument {
        case "-f", "--format":
            guard let value = rest.popFirst(), ["pretty", "json"].contains(value) else {
                return CheckOutput.usage("`\(argument)` needs `pretty` or `json`")
            }
            format = value
        case "-h", "--help":
            CheckOutput.write(CheckOutput.usage, to: STDOUT_FILENO)
            return 0
        case "--":
            paths += rest
            rest = []
        default:
            guard !argument.hasPrefix("-") || argument == "-" else {
                return CheckOutput.usage("unknown option `\(argument)`")
            }
            paths.append(argument)
        }
    }
    guard !paths.isEmpty else { return CheckOutput.usage("no files or folders given") }
    let found: PolicyFiles
    switch PolicyFiles.read(paths) {
    case .success(let files): found = files
    case .failure(let problem):
        CheckOutput.write("\(problem.path): error: \(problem.message)\n", to: STDERR_FILENO)
        return 1
    }
    guard !found.files.isEmpty else {
        CheckOutput.write(
            "error: no policy files in \(paths.joined(separator: ", "))\n", to: STDERR_FILENO)
        return 2
    }
    let load = PolicyLoader().load(found.files)
    report(load, format)
    return load.hasErrors ? 3 : 0
}

private func report(_ load: PolicyLoad, _ format: String) {
    guard format == "pretty" else {
        var writer = JSONWriter()
        writer.value(load.json)
        CheckOutput.write(writer.bytes + [0x0A], to: STDOUT_FILENO)
        return
    }
    CheckOutput.write(load.rendered(colour: isatty(STDERR_FILENO) == 1), to: STDERR_FILENO)
    var text = ""
    for file in load.files {
        text += "\(file.path): \(file.role.rawValue)"
        text += file.reference.map { " \($0)" } ?? ""
        text += "\n"
    }
    let errors = load.diagnostics.filter { $0.severity == .error }.count
    let warnings = load.diagnostics.count - errors
    text += "\(load.files.count) files, \(errors) errors, \(warnings) warnings\n"
    CheckOutput.write(text, to: STDOUT_FILENO)
}

/// Where the command's words go.
private enum CheckOutput {
    static let usage = "usage: discern check [-f pretty|json] PATH…\n"

    static func usage(_ problem: String) -> Int32 {
        write(
            "discern check: \(problem)\n" + usage,
            to: STDERR_FILENO)
        return 2
    }

    static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var offset = 0
        bytes.withUnsafeBytes { buffer in
            while offset < buffer.count {
                let count = Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0, errno == EINTR { continue }
                // Nobody is left to tell: a closed pipe ends the report.
                guard count > 0 else { return }
                offset += count
            }
        }
    }
}

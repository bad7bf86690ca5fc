import Policies
import Testing

/// Text with marks such as `«1»` at places that findings are expected at. The marks are stripped
/// before the text is read, so no test counts lines.
struct MarkedText {
    let text: String
    /// Mark number to place.
    let places: [Int: SourcePosition]

    init(_ marked: String) {
        var text = ""
        var places: [Int: SourcePosition] = [:]
        var line = 1
        var column = 1
        var mark: String?
        for scalar in marked.unicodeScalars {
            switch (scalar, mark) {
            case ("«", _): mark = ""
            case ("»", let number?):
                if let number = Int(number) {
                    places[number] = SourcePosition(line: line, column: column)
                }
                mark = nil
            case (_, let number?): mark = number + String(scalar)
            default:
                text.unicodeScalars.append(scalar)
                column += 1
                if scalar == "\n" {
                    line += 1
                    column = 1
                }
            }
        }
        self.text = text
        self.places = places
    }
}

/// What a file should be told.
struct Expected: Sendable {
    let mark: Int
    let code: String
    /// A part of the message.
    let message: String

    init(_ mark: Int, _ code: String, _ message: String) {
        self.mark = mark
        self.code = code
        self.message = message
    }
}

/// Loads one marked file and compares all findings with those expected, no more and no fewer. The
/// marks are where the offending texts begin, or what else `reported` gives.
func expectFindings(
    in marked: String, _ expected: [Expected], path: String = "p.yaml",
    beside others: [PolicyLoader.File] = [],
    at reported: (PolicyDiagnostic) -> SourcePosition = { $0.range.start },
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let input = MarkedText(marked)
    let file = PolicyLoader.File(path: path, bytes: Array(input.text.utf8))
    let load = PolicyLoader().load([file] + others)
    let given = load.diagnostics.filter { $0.file == path }
    let description = "\n" + load.rendered()
    guard given.count == expected.count else {
        Issue.record(
            "\(given.count) findings, \(expected.count) expected:\(description)",
            sourceLocation: sourceLocation)
        return
    }
    for (finding, wanted) in zip(given, expected) {
        #expect(finding.code == wanted.code, "\(description)", sourceLocation: sourceLocation)
        #expect(
            finding.message.contains(wanted.message),
            "`\(finding.message)` should say `\(wanted.message)`", sourceLocation: sourceLocation)
        let place = input.places[wanted.mark]
        #expect(
            reported(finding) == place, "mark \(wanted.mark) of `\(wanted.code)`\(description)",
            sourceLocation: sourceLocation)
    }
    let hasErrors = given.contains { $0.severity == .error }
    if hasErrors { #expect(load.set == nil, sourceLocation: sourceLocation) }
}

/// A model that policies of tests can name.
let testModel = PolicyLoader.File(
    path: "models/m.yaml",
    bytes: Array(
        """
        kind: scorecard
        name: card
        version: 1
        inputs:
          - {name: device.value, weight: 1}
        provenance: {author: tests}
        """.utf8))

/// A trust policy around some rules. Everything it declares is used by `used`, unless told not to.
func trustPolicy(
    attributes: String = "amount: {type: double, min: 0}",
    velocity: String = "recent: {count: evaluations, window: 1h}",
    used: String =
        "attributes.amount > 1.0 && velocity.recent > 1 && insight.outcome == \\\"high\\\"",
    strategy: String = "strictest",
    rules: String
) -> String {
    let indented = { (text: String, spaces: Int) in
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(repeating: " ", count: spaces) + $0 }.joined(separator: "\n")
    }
    return """
        kind: trust
        name: sample
        version: 1
        categories: [payment]
        attributes:
        \(indented(attributes, 2))
        velocity:
        \(indented(velocity, 2))
        model: {name: card, version: 1, medium: 0.4, high: 0.8}
        rule:
          strategy: \(strategy)
          match:
            - {id: uses-all, condition: "\(used)", output: {friction: increased}}
        \(indented(rules, 4))
            - {id: last, output: {friction: unchanged}}

        """
}

import Testing

import Policies

/// Text broken to fit a terminal.
@Suite struct WrappedTextTests {
    struct Case: Sendable {
        var text: String
        var head = ""
        var hang: Int?
        var columns = 30
        var gives: [String]
    }

    private static let cases = [
        Case(text: "", gives: [""]),
        Case(text: "short", gives: ["short"]),
        Case(text: "", head: "  help: ", gives: ["  help:"]),
        Case(
            text: "exactly thirty columns, not 31", gives: ["exactly thirty columns, not 31"]),
        Case(
            text: "one more than thirty columns, 3", gives: ["one more than thirty columns,", "3"]),
        Case(
            text: "further lines stand below the text", head: "help: ",
            gives: ["help: further lines stand", "      below the text"]),
        Case(
            text: "or are moved in by so much", head: "a/path.yaml:12: ", hang: 4,
            gives: ["a/path.yaml:12: or are moved", "    in by so much"]),
        Case(
            text: "below a long path", head: "a/longer/path/that/leaves/no.yaml:12: ", hang: 4,
            gives: ["a/longer/path/that/leaves/no.yaml:12:", "    below a long path"]),
        Case(
            text: "an id 019ae66d-a632-7ab1-8000-0000000002c4 stays whole", columns: 20,
            gives: ["an id", "019ae66d-a632-7ab1-8000-0000000002c4", "stays whole"]),
        Case(
            text: "019ae66d-a632-7ab1-8000-0000000002c4", head: "by ", columns: 20,
            gives: ["by 019ae66d-a632-7ab1-8000-0000000002c4"]),
        Case(
            text: "blanks  that are meant", columns: 40, gives: ["blanks  that are meant"]),
        Case(
            text: "blanks at a  break are not needed", columns: 20,
            gives: ["blanks at a  break", "are not needed"]),
        Case(text: "lines\nof the text", head: "- ", gives: ["- lines", "  of the text"]),
        Case(text: "a\n\nb", head: "- ", gives: ["- a", "", "  b"].map { $0 }),
        Case(text: "größer ist breiter äöü", columns: 22, gives: ["größer ist breiter äöü"]),
        Case(text: "→ «»", columns: 20, gives: ["→ «»"]),
        // However deep, some of the text stands on each line.
        Case(
            text: "a few words that are far to the right", head: String(repeating: " ", count: 28),
            gives: [
                "a few words that are", "far to the right",
            ].map { String(repeating: " ", count: 28) + $0 }),
    ]

    @Test(arguments: cases.indices) func isBrokenAtBlanks(index: Int) {
        let given = Self.cases[index]
        let lines = WrappedText.lines(
            given.text, behind: given.head, hang: given.hang, columns: given.columns)
        #expect(lines == given.gives)
    }

    // MARK: Findings

    private static func load(_ key: String) -> PolicyLoad {
        let text = """
            kind: trust
            name: sample
            version: 1
            categories: [payment]
            attributes:
              amount: {type: double}
            rule:
              match:
                - {condition: attributes.amount > 500.0, output: {friction: increased, steps: [warn, stepUp, manualReview]}, \(key): 1, explanation: '"because it is more than anybody should spend in a day, as it seems"'}

            """
        return PolicyLoader().load([
            PolicyLoader.File(path: "p.yaml", bytes: Array(text.utf8))
        ])
    }

    @Test(arguments: [60, 80, 100]) func aFindingFitsTheTerminal(columns: Int) throws {
        let load = Self.load("nobodyKnowsThis")
        let lines = load.rendered(columns: columns).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
        let head = try #require(lines.first { $0.contains("nobodyKnowsThis") })
        #expect(head.hasPrefix("p.yaml:9:"))
        // The marks stand below the offending text, whatever was cut.
        let marks = try #require(lines.firstIndex { $0.contains("^^^^") })
        let start = try #require(lines[marks].firstIndex(of: "^"))
        let offset = lines[marks].distance(from: lines[marks].startIndex, to: start)
        #expect(lines[marks - 1].dropFirst(offset).hasPrefix("nobodyKnowsThis"))
        #expect(lines[marks - 1].hasPrefix("  …") && lines[marks - 1].hasSuffix("…"))
        let help = try #require(lines.firstIndex { $0.hasPrefix("  help: ") })
        if columns < 100 { #expect(lines[help + 1].hasPrefix("        ")) }
    }

    @Test func withoutATerminalTheFirstLineIsOneLine() throws {
        let load = Self.load("nobodyKnowsThisVeryLongKeyWhichIsMuchTooLongForOneLineOfATerminal")
        let finding = try #require(load.diagnostics.first)
        let lines = load.rendered().split(separator: "\n").map(String.init)
        #expect(finding.headline.count > 100)
        #expect(lines.contains(finding.headline))
        #expect(lines.allSatisfy { $0.count <= 100 || $0 == finding.headline }, "\(lines)")
    }
}

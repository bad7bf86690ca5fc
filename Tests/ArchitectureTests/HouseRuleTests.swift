import Foundation
import Testing

@Suite struct HouseRuleTests {
    /// A file that needs more holds more than one idea.
    static let maxLines = 450

    @Test func noFoundation() {
        for source in Repository.sources {
            for (line, name) in Repository.imports(in: source) {
                #expect(!name.hasPrefix("Foundation"), "\(source.path):\(line)")
            }
        }
    }

    @Test func filesStaySmall() {
        for source in Repository.sources {
            #expect(source.lines.count <= Self.maxLines, "\(source.path)")
        }
        #expect(Repository.sources.count > 100, "the sources were not found")
    }

    /// What ends the process is for what no input can reach, and says why.
    @Test(arguments: ["try!", "as!", "fatalError(", "preconditionFailure("])
    func whatEndsTheProcessSaysWhy(_ text: String) {
        for source in Repository.sources {
            for (index, line) in source.lines.enumerated() {
                let parts = line.split(
                    separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts[0].contains(text), !Self.isInString(text, String(parts[0])) else {
                    continue
                }
                let before = index > 0 ? source.lines[index - 1] : ""
                #expect(
                    parts.count == 2 || before.contains("//"),
                    "\(source.path):\(index + 1): \(line)")
            }
        }
    }

    @Test func nothingIsLeftForLater() {
        for source in Repository.sources {
            for (index, line) in source.lines.enumerated() {
                let words = line.split { !$0.isLetter }
                #expect(
                    !words.contains { ["TODO", "FIXME", "XXX", "HACK"].contains($0) },
                    "\(source.path):\(index + 1): \(line)")
            }
        }
    }

    /// Whether the text stands between quotes.
    private static func isInString(_ text: String, _ line: String) -> Bool {
        guard let range = line.range(of: text) else { return false }
        return line[..<range.lowerBound].count { $0 == "\"" } % 2 == 1
    }
}

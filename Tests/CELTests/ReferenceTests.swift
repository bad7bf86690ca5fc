import CEL
import Foundation
import Testing

/// docs/cel.md: it has every operator, macro, function, message and error that there is, no others,
/// and what it says of its examples is so.
@Suite("The reference of the language")
struct ReferenceTests {
    private static func document() throws -> String {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/cel.md")
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    /// The rows of the tables whose head begins so: cells without the marks of code.
    private static func rows(_ head: String) throws -> [[String]] {
        var found: [[String]] = []
        var isInside = false
        for line in try document().components(separatedBy: "\n") {
            if line.hasPrefix("| \(head) |") {
                isInside = true
            } else if !line.hasPrefix("|") {
                isInside = false
            } else if isInside, !line.hasPrefix("| ---") {
                found.append(cells(line))
            }
        }
        return found
    }

    private static func cells(_ line: String) -> [String] {
        let marked = line.replacing("\\|", with: "\u{0}")
        return marked.split(separator: "|").map { cell in
            var text = cell.trimmingCharacters(in: .whitespaces).replacing("\u{0}", with: "|")
            let isCode = text.hasPrefix("`") && text.hasSuffix("`")
            if isCode, text.hasPrefix("`` ") {
                text = String(text.dropFirst(3).dropLast(3))
            } else if isCode, !text.contains("`, `") {
                text = String(text.dropFirst().dropLast())
            }
            return text
        }
    }

    /// Of `<` alone; the other three operators have the same overloads. So have the two functions.
    private static let alike = [
        "_<=_": "_<_", "_>_": "_<_", "_>=_": "_<_", "math.least": "math.greatest",
    ]

    @Test func everyOverloadIsThereOnce() throws {
        let documented = try Self.rows("signature").map { $0[0] }
        let signatures = Function.standard.filter { Self.alike[$0.name] == nil }
            .flatMap(\.signatures)
        #expect(Set(documented).subtracting(signatures) == [])
        #expect(Set(signatures).subtracting(documented) == [])
        #expect(documented.count == Set(documented).count)
    }

    @Test(arguments: Array(alike))
    func whatIsSaidToBeAlikeIs(_ name: String, _ other: String) throws {
        let left = try #require(Function.standard.first { $0.name == name })
        let right = try #require(Function.standard.first { $0.name == other })
        #expect(left.overloads.map(\.parameters) == right.overloads.map(\.parameters))
        #expect(left.overloads.map(\.result) == right.overloads.map(\.result))
    }

    @Test func everyMacroIsThere() throws {
        var documented: [String: Set<Int>] = [:]
        for row in try Self.rows("macro") {
            let call = try #require(row[0].split(separator: "(").first)
            let name = call.hasPrefix("e.") ? String(call.dropFirst(2)) : String(call)
            // `cel.block([value, …], result)` has a comma within its first argument.
            let commas = row[0].replacing(", …", with: "").split(separator: ",").count
            documented[name, default: []].insert(commas)
        }
        #expect(documented == Reference.macros)
    }

    @Test func everyMessageIsThere() throws {
        var documented: [String: [String]] = [:]
        for row in try Self.rows("message") {
            let parts = row[0].dropLast().split(separator: "{")
            documented[String(parts[0])] =
                parts.dropFirst().first?.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                } ?? []
        }
        #expect(documented == Reference.messages)
    }

    @Test(arguments: ["signature", "macro", "message", "clause"])
    func examplesGiveWhatTheySay(_ head: String) throws {
        let rows = try Self.rows(head)
        #expect(!rows.isEmpty)
        for row in rows {
            try #require(row.count == 4, "\(row)")
            guard case .value(let expected) = outcome(row[3]) else {
                Issue.record("\(row[3]) is no value")
                continue
            }
            #expect(outcome(row[2]) == .value(expected), "\(row[2])")
        }
    }

    @Test func failuresAreWhatTheySay() throws {
        for row in try Self.rows("function") {
            guard case .error(let code) = outcome(row[2]) else {
                Issue.record("\(row[2]) does not fail")
                continue
            }
            #expect("\(code)" == row[3], "\(row[2])")
        }
    }

    @Test func everyErrorIsThere() throws {
        let rows = try Self.rows("code")
        #expect(rows.map { $0[0] } == EvaluationError.Code.allCases.map { "\($0)" })
        for row in rows where !row[2].contains("—") && !row[2].contains("`") {
            guard case .error(let code) = outcome(row[2]) else {
                Issue.record("\(row[2]) does not fail")
                continue
            }
            #expect("\(code)" == row[0], "\(row[2])")
        }
    }

    /// The literals and names that the table of types shows.
    @Test func literalsOfTheTypesCompile() throws {
        for row in try Self.rows("type") {
            for literal in row[1].components(separatedBy: "`, `") {
                let text = literal.trimmingCharacters(in: ["`"])
                #expect(Environment().compile(text).program != nil, "\(text)")
            }
        }
    }
}

import Foundation
import Testing

import Policies

/// Fixtures/check: for each fault a file with the place marked and the exact finding at its head.
@Suite struct CheckFixtureTests {
    static let folder = ShippedPolicies.folder.deletingLastPathComponent()
        .appending(path: "Fixtures/check")

    static let names: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []

    /// A fixture: `#=` lines say what is found in the first file, `#- path:` begins another one.
    struct Fixture {
        struct Finding: Equatable, CustomStringConvertible {
            var place: SourcePosition?
            var text: String
            var description: String { "\(place?.line ?? 0):\(place?.column ?? 0) \(text)" }
        }

        private(set) var files: [PolicyLoader.File] = []
        private(set) var findings: [Finding] = []

        init(_ name: String) throws {
            let data = try Data(contentsOf: CheckFixtureTests.folder.appending(path: name))
            var expected: [(mark: Int, text: String)] = []
            var path = "policy.yaml"
            var parts: [(path: String, text: String)] = []
            var current = ""
            for line in String(decoding: data, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false)
            {
                if line.hasPrefix("#= «") {
                    let rest = line.dropFirst("#= «".count)
                    let end = try #require(rest.firstIndex(of: "»"))
                    let mark = try #require(Int(rest[..<end]))
                    expected.append((mark, String(rest[rest.index(end, offsetBy: 2)...])))
                } else if line.hasPrefix("#- path: ") {
                    if !current.isEmpty { parts.append((path, current)) }
                    path = String(line.dropFirst("#- path: ".count))
                    current = ""
                } else {
                    current += line + "\n"
                }
            }
            // The text ends its last line itself.
            parts.append((path, String(current.dropLast())))
            for (index, part) in parts.enumerated() {
                let (bytes, places) = Self.unmark(part.text)
                files.append(PolicyLoader.File(path: part.path, bytes: bytes))
                if index == 0 {
                    findings = expected.map { Finding(place: places[$0.mark], text: $0.text) }
                }
            }
        }

        /// Takes marks such as `«1»` out and notes their places; `«xE9»` is a byte and `«u2028»` a
        /// character that no editor should meet.
        private static func unmark(_ text: String) -> ([UInt8], [Int: SourcePosition]) {
            var bytes: [UInt8] = []
            var places: [Int: SourcePosition] = [:]
            var (line, column) = (1, 1)
            for part in text.split(separator: "«", omittingEmptySubsequences: false).enumerated() {
                var plain = part.element
                if part.offset > 0, let end = plain.firstIndex(of: "»") {
                    let mark = plain[..<end]
                    plain = plain[plain.index(after: end)...]
                    if let number = Int(mark) {
                        places[number] = SourcePosition(line: line, column: column)
                    } else if mark.hasPrefix("x"), let byte = UInt8(mark.dropFirst(), radix: 16) {
                        bytes.append(byte)
                        column += 1
                    } else if let value = UInt32(mark.dropFirst(), radix: 16),
                        let scalar = Unicode.Scalar(value)
                    {
                        bytes += Array(String(scalar).utf8)
                        column += 1
                    }
                }
                for scalar in plain.unicodeScalars {
                    column += 1
                    if scalar == "\n" { (line, column) = (line + 1, 1) }
                }
                bytes += Array(plain.utf8)
            }
            return (bytes, places)
        }
    }

    @Test(arguments: names) func isFoundExactly(_ name: String) throws {
        let fixture = try Fixture(name)
        let load = PolicyLoader().load(fixture.files)
        let path = fixture.files[0].path
        var found = load.diagnostics.filter { $0.file == path }.map {
            Fixture.Finding(
                place: $0.place, text: "\($0.severity.rawValue) \($0.code): \($0.message)")
        }
        if name.hasPrefix("tooManyDiagnostics") { found = [try #require(found.last)] }
        #expect(found == fixture.findings, "\(load.rendered())")
        let code = name.split(separator: ".").dropLast().prefix(name.hasPrefix("cel.") ? 3 : 2)
        #expect(
            found.contains { finding in
                finding.text.contains(" \(code.joined(separator: "."))")
                    || finding.text.contains(" \(code.prefix(2).joined(separator: ".")):")
            })
        #expect(load.diagnostics.filter { $0.file != path }.isEmpty, "\(load.rendered())")
    }

    /// Faults that no file of a sensible size, or no single file, can show.
    static let elsewhere: [Code: String] = [
        .tooLarge: "a file of more than a megabyte; LimitTests makes it",
        .unreadable: "a link to nowhere; the scenario tests of `check` make it",
        .sameFileTwice: "two files of one path; SetTests gives them",
    ]

    @Test func everyCodeHasAFixture() {
        let shown = Set(
            Self.names.map { $0.split(separator: ".").prefix(2).joined(separator: ".") })
        for code in Code.allCases where Self.elsewhere[code] == nil {
            let isShown =
                shown.contains(code.rawValue) || Self.names.contains(code.rawValue + ".yaml")
            #expect(isShown, "no fixture for \(code.rawValue)")
        }
        for code in Self.elsewhere.keys { #expect(!shown.contains(code.rawValue)) }
    }

    @Test func caseT24_theShadowedRuleAndTheOneAboveItAreNamed() throws {
        let fixture = try Fixture("policy.unreachableRule.yaml")
        let finding = try #require(PolicyLoader().load(fixture.files).diagnostics.first)
        #expect(finding.message.contains("`step-up-coached`"))
        #expect(finding.message.contains("`review-coached`"))
        #expect(finding.severity == .warning)
    }
}

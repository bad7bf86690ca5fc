import Foundation
import Policies
import Testing

/// Damaged files: whatever is done to them, loading says so or loads, and never ends the process.
@Suite struct MutationTests {
    /// A small generator that gives the same numbers for the same seed (xorshift64*).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }

    private static let pieces: [String] = [
        "{", "}", "[", "]", ":", ": ", "- ", "'", "\"", "|", ">", "#", "&a", "*a", "!x", "\t", "\n",
        "\r", "  ", ",", "~", "null", "true", "1e999", "-1", "9223372036854775808", "\\u12",
        "attributes.amount", "variables.large", "insight.outcome", " && ", "((((", "🙂", "\u{0}",
        "match:", "rule:", "output:", "condition:", "72h", "[0]", " / 0", "%YAML 1.1\n", "---\n",
    ]

    private static func damage(_ text: String, _ generator: inout Generator) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let length = min(
                Int.random(in: 0...12, using: &generator), bytes.count - place)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes.removeSubrange(place..<(place + length))
            case 1:
                let piece = pieces.randomElement(using: &generator) ?? ""
                bytes.insert(contentsOf: piece.utf8, at: place)
            case 2: bytes.insert(contentsOf: Array(bytes[place..<(place + length)]), at: place)
            default:
                if place < bytes.count {
                    bytes[place] = UInt8.random(in: 0...255, using: &generator)
                }
            }
        }
        return bytes
    }

    /// A short run in every test; as many rounds as one has patience for when asked.
    private static let rounds =
        ProcessInfo.processInfo.environment["DISCERN_MUTATION_ROUNDS"].flatMap { Int($0) } ?? 25

    @Test(arguments: 1...8) func damagedFilesAreSurvived(_ seed: UInt64) throws {
        let files = try ShippedPolicies.all()
        var generator = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15)
        for round in 0..<Self.rounds {
            var damaged = files
            let index = Int.random(in: 0..<files.count, using: &generator)
            let text = String(decoding: files[index].bytes, as: UTF8.self)
            damaged[index] = PolicyLoader.File(
                path: files[index].path, bytes: Self.damage(text, &generator))
            let load = PolicyLoader().load(damaged)
            let place: Comment = "seed \(seed), round \(round), \(files[index].path)"
            #expect((load.set == nil) == load.hasErrors, place)
            #expect(load.files.count == files.count, place)
            _ = load.rendered()
            for finding in load.diagnostics {
                #expect(finding.range.start.line >= 1 && finding.range.start.column >= 1, place)
                #expect(finding.range.start <= finding.range.end, "\(finding.headline) \(place)")
                #expect(!finding.message.isEmpty && !finding.code.isEmpty, place)
            }
        }
    }
}

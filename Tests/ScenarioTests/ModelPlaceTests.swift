import Foundation
import Testing

extension Scenarios {
    /// A policy file that lies somewhere else than its model.
    @Suite struct ModelPlaces {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        private static let shipped = root + "/Policies/transcripts-payments.yaml"
        private static let model = "/models/coached-scorecard.yaml"

        /// The shipped policy as another version, alone in a folder.
        private static func alone() throws -> (folder: TemporaryFolder, path: String) {
            let folder = try TemporaryFolder()
            let path = folder.path + "/alone/payments.yaml"
            try FileManager.default.createDirectory(
                atPath: folder.path + "/alone", withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: folder.path + "/empty", withIntermediateDirectories: true)
            try Files.write(
                Files.text(shipped).replacing("version: 3", with: "version: 4"), to: path)
            return (folder, path)
        }

        @Test func whatIsNowhereIsNamedWithWhereItWasLookedFor() throws {
            let (folder, path) = try Self.alone()
            // Its files go when it does.
            defer { withExtendedLifetime(folder) {} }
            let empty = folder.path + "/empty"
            let commands = [
                ["diff", Self.shipped, path, "--in", empty],
                ["backtest", path, "--in", empty, "--data", folder.path + "/none"],
            ]
            for words in commands {
                let run = try Program.run(words)
                #expect(run.status == 3, "\(run.errors)")
                // Lines are wrapped nowhere that a test could rely on.
                let text = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                for part in [
                    "policy.undeclaredModel", "there is no model `coached-scorecard` version 2",
                    "`coached-scorecard@2` was looked for", "`\(empty)` (--in)",
                    "name its folder with --in",
                ] { #expect(text.contains(part), "\(part)\n\(run.errors)") }
            }
        }

        @Test func theFolderThatIsNamedHasIt() throws {
            let (folder, path) = try Self.alone()
            // Its files go when it does.
            defer { withExtendedLifetime(folder) {} }
            let run = try Program.run(
                ["diff", Self.shipped, path, "--in", Self.root + "/Policies/models"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("no change of meaning"))
        }

        @Test func itMayLieBesideThePolicy() throws {
            let (folder, path) = try Self.alone()
            // Its files go when it does.
            defer { withExtendedLifetime(folder) {} }
            let empty = folder.path + "/empty"
            try Files.write(
                Files.text(Self.root + "/Policies" + Self.model),
                to: folder.path + "/alone/card.yml")
            // What does not belong to the policy is not read with it.
            try Files.write("kind: [", to: folder.path + "/alone/broken.yaml")
            try Files.write(
                Files.text(Self.root + "/Policies" + Self.model).replacing(
                    "version: 2", with: "version: 3"), to: folder.path + "/alone/other.yaml")
            for words in [
                ["check", path], ["diff", Self.shipped, path, "--in", empty],
                [
                    "eval", path, "--device", "0.5", "-s", "attributes.amount=1.0", "-s",
                    "attributes.currency=EUR", "-s", "attributes.newPayee=true",
                ],
            ] {
                let run = try Program.run(words)
                #expect(run.status == 0, "\(words): \(run.errors)")
                #expect(!run.output.contains("other.yaml"))
            }
        }

        @Test func theLedgerRecordedIt() throws {
            let (folder, path) = try Self.alone()
            // Its files go when it does.
            defer { withExtendedLifetime(folder) {} }
            let (empty, data) = (folder.path + "/empty", folder.path + "/data")
            let made = try Program.run(
                ["evaluations", data, "200", "7"], of: Program.built("fixture-generator"))
            try #require(made.status == 0, "\(made.errors)")
            for words in [["backtest", path], ["diff", Self.shipped, path]] {
                let run = try Program.run(words + ["--in", empty, "--data", data])
                #expect(run.status == 0, "\(words): \(run.errors)")
                let other = try Program.run(
                    words + ["--in", empty, "--data", data + "-not"])
                #expect(other.status == 3, "\(words): \(other.errors)")
            }
        }
    }
}

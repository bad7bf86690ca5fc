import Engine
import Glibc
import Policies
import Time

// Makes a data folder with recorded evaluations and labels, by having the engine judge a made-up
// story. The same seed tells the same story; keys and salts of the folder are its own.
//
// usage: fixture-generator evaluations FOLDER [COUNT [SEED]]     run in the repository's root

let arguments = CommandLine.arguments

func say(_ text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }

func stop(_ message: String) -> Never {
    say("fixture-generator: \(message)\n")
    exit(1)
}

func shippedPolicies() -> PolicySet {
    let paths = ["Policies/transcripts-payments.yaml", "Policies/models/coached-scorecard.yaml"]
    let files = paths.map { path in
        guard let bytes = contents(of: path) else { stop("\(path) cannot be read") }
        return PolicyLoader.File(path: path, bytes: bytes)
    }
    let load = PolicyLoader(zones: .utc).load(files)
    guard let set = load.set else { stop(load.rendered()) }
    return set
}

func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let next = fgetc(file), next != EOF { bytes.append(UInt8(truncatingIfNeeded: next)) }
    return bytes
}

guard (3...5).contains(arguments.count), arguments[1] == "evaluations",
    let count = arguments.count > 3 ? Int(arguments[3]) : 100_000, count > 0,
    let seed = arguments.count > 4 ? UInt64(arguments[4]) : 1
else { stop("usage: fixture-generator evaluations FOLDER [COUNT [SEED]]") }
var chance = Chance(seed: seed)
let story = Story(count: count, chance: &chance)
do {
    let recording = try Recording(
        folder: arguments[2], policies: shippedPolicies(), chance: chance)
    try recording.record(story) { done in
        if done % 10_000 == 0 { say("\(done) of \(count) payments\n") }
    }
    try recording.finish()
    say("\(count) payments of \(story.people) people, \(recording.labelled) labels\n")
} catch {
    stop("\(error)")
}

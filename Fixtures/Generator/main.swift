import Engine
import Glibc
import Policies
import Time

// Makes data folders, by having the engine judge what it is made to believe is happening, and a
// stream of donations. The same seed gives the same events; keys and salts of a folder are its own.
// Run in the repository's root.
//
//     evaluations   90 days of payments with frauds and labels: for backtests
//     history       a store after 90 days of many people, all reports made: for measuring growth
//     donations     a year of an app's people, as NDJSON: for simulating review policies

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

let usage = """
    usage: fixture-generator evaluations FOLDER [COUNT [SEED]]
           fixture-generator history FOLDER [COUNT [SUBJECTS [SEED]]]
           fixture-generator donations FILE [PEOPLE [SEED]]
    """

/// The number at a place of the command line.
func number(_ place: Int, else standard: Int) -> Int {
    guard arguments.count > place else { return standard }
    guard let number = Int(arguments[place]), number >= 0 else { stop(usage) }
    return number
}

func evaluations(_ folder: String) throws {
    let count = number(3, else: 100_000)
    var chance = Chance(seed: UInt64(number(4, else: 1)))
    let story = Story(count: count, chance: &chance)
    let recording = try Recording(folder: folder, policies: shippedPolicies(), chance: chance)
    try recording.record(story) { done in
        if done % 10_000 == 0 { say("\(done) of \(count) payments\n") }
    }
    try recording.finish()
    say("\(count) payments of \(story.people) people, \(recording.labelled) labels\n")
}

func history(_ folder: String) throws {
    let count = number(3, else: 5_000_000)
    let history = try History(
        folder: folder, subjects: number(4, else: 500_000), policies: shippedPolicies(),
        chance: Chance(seed: UInt64(number(5, else: 1))))
    try history.record(count) { done in
        if done % 100_000 == 0 { say("\(done) of \(count) evaluations\n") }
    }
    try history.finish()
}

func donations(_ path: String) throws {
    let people = number(3, else: 10_000)
    guard (1...1_000_000).contains(people) else { stop("PEOPLE is 1 to 1000000, not \(people)") }
    var chance = Chance(seed: UInt64(number(4, else: 1)))
    let year = DonationYear(people: people, chance: &chance)
    try DonationFile.write(year, to: path)
    say("\(year.events.count) donations of \(people) people\n")
}

guard arguments.count > 2 else { stop(usage) }
do {
    switch arguments[1] {
    case "evaluations": try evaluations(arguments[2])
    case "history": try history(arguments[2])
    case "donations": try donations(arguments[2])
    default: stop(usage)
    }
} catch {
    stop("\(error)")
}

import Policies

/// A review policy that the program brings along: to simulate, and to start from.
struct Preset {
    /// What it is called on the command line.
    let name: String
    /// What it is for, in a few words.
    let summary: String
    /// The file, byte for byte as it lies in the repository.
    let text: String

    var file: PolicyLoader.File {
        PolicyLoader.File(path: "preset \(name)", bytes: Array(text.utf8))
    }

    /// All of them, in the order they are listed.
    static let all = [appleLimits, gentle, transcripts, treaty]

    /// Their names, for messages.
    static var names: String { all.map(\.name).joined(separator: ", ") }
}

// The files stand in the program so that it needs nothing beside it. A test compares them.
extension Preset {
    static let appleLimits = Preset(
        name: "apple-limits", summary: "Apple's limits and nothing more",
        text: """
            # The platform's own limits and nothing more: whoever starts here adds moments and pauses.
            kind: reviewPrompt
            name: apple-limits
            version: 1
            description: At most three prompts in 365 days and one for each version, at any moment.
            zone: subject
            limits:
              - {name: apple, max: 3, within: 365d, scope: device}
              - {name: version, max: 1, per: version, grain: full}
            reasons:
              finishedTranscript: {atLeast: 1}
              exportedVideo: {atLeast: 1}
              activeDay: {atLeast: 1}

            """)

    static let gentle = Preset(
        name: "gentle", summary: "twice a year at most, after repeated success",
        text: """
            # Rarely, and only people who have got something out of the app and are not annoyed just now.
            kind: reviewPrompt
            name: gentle
            version: 1
            description: At most two prompts in 365 days, months apart, after repeated success.
            zone: subject
            limits:
              - {name: twoAYear, max: 2, within: 365d, scope: both}
              - {name: version, max: 1, per: version, grain: minor}
              - {name: interval, atLeast: 90d, unit: calendarDay}
              - {name: settled, sinceInstall: 7d}
              - {name: postponed, after: notRequested, reason: userPostponed, for: 90d}
              - {name: calm, after: transcriptionFailed, for: 3d}
            reasons:
              finishedTranscript: {atLeast: 5}
              exportedVideo: {atLeast: 2}
              activeDay: {distinctDays: 5, within: 14d}
            whileThrottled: drop
            afterGrant: reset
            lease: {for: 10m, silence: count}

            """)

    static let transcripts = Preset(
        name: "transcripts", summary: "the transcript app's own policy",
        text: """
            # When the transcript app may ask for a review.
            kind: reviewPrompt
            name: transcripts-review
            version: 1
            zone: subject
            limits:
              - {name: apple, max: 3, within: 365d, scope: device}
              - {name: version, max: 1, per: version, grain: full}
              - {name: interval, atLeast: 7d, unit: calendarDay}
              - {name: settled, sinceInstall: 2d}
              - {name: postponed, after: notRequested, reason: userPostponed, for: 10d}
              - {name: calm, after: transcriptionFailed, for: 1d}
            reasons:
              finishedTranscript: {atLeast: 3}
              exportedVideo: {atLeast: 1, when: 'donation.attributes.minutes >= 5'}
              activeDay: {distinctDays: 5, within: 7d}
              anyTwo: {any: [{finishedTranscript: 2}, {exportedVideo: 2}]}
            whileThrottled: drop
            afterGrant: reset
            resetOnVersion: none
            lease: {for: 10m, silence: count}
            holdout: {percent: 0, salt: spring}
            enabled: true

            """)

    static let treaty = Preset(
        name: "treaty", summary: "an article's rules with their faults, to compare with",
        text: """
            # The rules of an article, with its faults, to be compared with others. Not for use:
            # `discern simulate` plays it as it runs on a device.
            kind: reviewPrompt
            name: treaty
            version: 1
            description: Three reasons, seven days, the last version; faults included.
            preset: treaty
            zone: subject
            limits:
              - {name: interval, atLeast: 7d, unit: calendarDay, scope: device}
              - {name: version, max: 1, per: version, grain: full, scope: device}
            reasons:
              finishedTranscript: {atLeast: 3}
              activeDay: {atLeast: 3}
              exportedVideo: {atLeast: 1}
            whileThrottled: drop
            afterGrant: none

            """)
}

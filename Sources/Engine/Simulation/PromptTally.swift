import Policies
import ReviewPrompts
import Time

/// A limit of the platform that a prompt breaks.
public enum PromptViolation: String, Sendable, Hashable, CaseIterable {
    /// The device was asked three times within the last 365 days already.
    case moreThanThreeIn365Days
    /// The device was asked in this version already.
    case versionAskedAgain
    /// The build is not from the App Store, and it is no sandbox: nothing is shown.
    case notFromAppStore
}

/// Counts prompts by itself, whatever the policy remembers: what was done, not what was meant.
struct PromptTally {
    /// The platform's own limit, for each device.
    static let cap = 3
    static let window = Duration.days(365)

    /// The prompts of one device.
    private struct Device {
        /// Those of the window, in order.
        var times: [Instant] = []
        var versions: Set<Version> = []
    }

    /// Equal versions are one, however they are spelt; what is no version is its text.
    private enum Version: Hashable {
        case version(AppVersion)
        case text(String)

        init(_ text: String) {
            self = AppVersion(text).map(Version.version) ?? .text(text)
        }
    }

    /// Prompts of each person.
    private var subjects: [ReviewSimulation.Key: Int] = [:]
    private var devices: [ReviewSimulation.Key: Device] = [:]
    private var atCap: Set<ReviewSimulation.Key> = []

    mutating func see(
        subject: ReviewSimulation.Key, device: ReviewSimulation.Key
    ) throws(SimulationError) {
        if subjects[subject] == nil { subjects[subject] = 0 }
        if devices[device] == nil { devices[device] = Device() }
        guard subjects.count + devices.count <= SimulationLimits.entities else {
            throw .tooManyEntities
        }
    }

    /// Counts a prompt and says what it breaks.
    mutating func prompt(
        _ event: ReviewEvent, subject: ReviewSimulation.Key, device key: ReviewSimulation.Key
    ) -> [PromptViolation] {
        subjects[subject, default: 0] += 1
        var violations: [PromptViolation] = []
        var device = devices[key] ?? Device()
        let now = event.receivedAt
        // The window is closed: a prompt of exactly 365 days ago is in it.
        device.times.removeAll { now - $0 > Self.window }
        if device.times.count >= Self.cap { violations.append(.moreThanThreeIn365Days) }
        device.times.append(now)
        if device.times.count >= Self.cap { atCap.insert(subject) }
        let version = Version(event.donation.version)
        if device.versions.contains(version) {
            violations.append(.versionAskedAgain)
        } else if device.versions.count < SimulationLimits.names {
            device.versions.insert(version)
        }
        if event.environment == .production, event.donation.distribution != .appStore {
            violations.append(.notFromAppStore)
        }
        devices[key] = device
        return violations
    }

    func count(into report: inout SimulationReport) {
        report.people = subjects.count
        report.devices = devices.count
        report.peopleAtCap = atCap.count
        report.peopleByPrompts = [:]
        for prompts in subjects.values { report.peopleByPrompts[prompts, default: 0] += 1 }
    }
}

import Engine
import Glibc
import JSON
import Time

/// Writes a year of donations as NDJSON, a donation a line.
struct DonationFile {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let chunk = 1 << 20

    static func write(_ year: DonationYear, to path: String) throws {
        guard let file = path == "-" ? fdopen(dup(STDOUT_FILENO), "w") : fopen(path, "w") else {
            throw failure(path)
        }
        var pending: [UInt8] = []
        pending.reserveCapacity(chunk + 1_024)
        var isWritten = true
        for event in year.events {
            append(event, of: year.donors[Int(event.person)], to: &pending)
            guard pending.count >= chunk else { continue }
            isWritten = isWritten && fwrite(pending, 1, pending.count, file) == pending.count
            pending.removeAll(keepingCapacity: true)
        }
        isWritten = isWritten && fwrite(pending, 1, pending.count, file) == pending.count
        guard fclose(file) == 0, isWritten else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(description: "\(path): \(String(cString: strerror(errno)))")
    }

    private static func append(
        _ event: DonationYear.Event, of donor: Donor, to bytes: inout [UInt8]
    ) {
        let device = donor.devices[Int(event.device)]
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("receivedAt", event.receivedAt.rfc3339)
        writer.member("occurredAt", event.occurredAt.rfc3339)
        writer.member("reason", reason(event.reason))
        writer.member("subject", donor.name)
        writer.member("device", device.name)
        if donor.tellsVersion {
            // By the true time: a wrong clock brings no release.
            let off = event.isClockWrong ? device.wrong?.by ?? .zero : .zero
            let day = DonationYear.day(event.occurredAt - off)
            writer.member("appVersion", DonationYear.version(device, on: day))
        }
        switch donor.build {
        case .appStore: writer.member("distribution", "appStore")
        case .testFlight: writer.member("distribution", "testFlight")
        case .development: writer.member("distribution", "development")
        }
        if donor.build == .development { writer.member("environment", "sandbox") }
        writer.member("timeZone", event.isAway ? donor.trip?.zone.name ?? "" : donor.zone.name)
        writer.member("installedAt", device.installs[Int(event.install)].rfc3339)
        if event.reason == .exportedVideo {
            writer.key("attributes")
            writer.beginObject()
            writer.key("minutes")
            writer.int(Int(event.minutes))
            writer.endObject()
        }
        if !event.hasActiveScene {
            writer.key("activeScene")
            writer.bool(false)
        }
        switch event.report {
        case .requested: break
        case .silent: writer.member("outcome", "silent")
        case .postponed:
            writer.member("outcome", "notRequested")
            writer.member("outcomeReason", "userPostponed")
        }
        writer.endObject()
        bytes += writer.bytes
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func reason(_ reason: DonationYear.Event.Reason) -> String {
        switch reason {
        case .activeDay: "activeDay"
        case .finishedTranscript: "finishedTranscript"
        case .exportedVideo: "exportedVideo"
        case .transcriptionFailed: "transcriptionFailed"
        }
    }
}

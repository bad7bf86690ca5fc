import Engine
import Glibc
import JSON
import Policies
import ReviewPrompts

/// Every event with what came of it, as NDJSON, written as the simulation goes on: beside its place, and
/// put there when all is known. What is no file, as a pipe, is written at once.
final class DecisionFile {
    private static let chunk = 1 << 18

    private let path: String
    /// `nil` where there is none, or it is in its place.
    private var draft: String?
    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(path: String) throws(Files.Fault) {
        self.path = path
        try Files.requireWritable(path)
        var status = stat()
        let isOther = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        draft = isOther ? nil : path + ".discern-draft"
        descriptor = open(draft ?? path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw fault() }
        pending.reserveCapacity(Self.chunk + 4_096)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let draft { unlink(draft) }
    }

    func write(_ moment: SimulationRun.Moment, number: Int64) throws(Files.Fault) {
        let donation = moment.event.donation
        var object: JSONObject = [
            "number": .int(number), "subject": .string(donation.subject),
            "distribution": .string(donation.distribution.rawValue),
        ]
        object.members += SimulationJSON.object(moment).members
        pending += JSONValue.object(object).text.utf8
        pending.append(UInt8(ascii: "\n"))
        if pending.count >= Self.chunk { try flush() }
    }

    /// Writes what is left. Nothing is known to be written before it returns.
    func finish() throws(Files.Fault) {
        try flush()
        guard let draft else { return }
        guard rename(draft, path) == 0 else { throw fault() }
        self.draft = nil
    }

    private func flush() throws(Files.Fault) {
        var offset = 0
        while offset < pending.count {
            let count = pending[offset...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault() }
            offset += count
        }
        pending.removeAll(keepingCapacity: true)
    }

    private func fault() -> Files.Fault {
        Files.Fault(description: "\(path): \(String(cString: strerror(errno)))")
    }
}

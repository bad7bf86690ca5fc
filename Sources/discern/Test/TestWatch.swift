import Glibc
import Policies

/// Runs something again whenever a file below paths changes.
///
/// It looks every 300 ms. That works on every file system, mounted ones of other machines too,
/// and policy folders are small.
struct TestWatch {
    let paths: [String]

    /// Never ends by itself.
    func run(_ body: () throws -> Int32) -> Int32 {
        while true {
            let seen = files()
            if Terminal.isInteractive {
                Terminal.write("\u{1B}[2J\u{1B}[H", to: STDOUT_FILENO)
            }
            do {
                _ = try body()
            } catch {
                Terminal.say("discern test: \(error)")
            }
            Terminal.say("watching \(paths.joined(separator: ", ")); Ctrl-C ends it")
            while files() == seen { usleep(300_000) }
        }
    }

    /// The content of the files; a file that cannot be read now counts as changed later.
    private func files() -> [String: [UInt8]] {
        guard case .success(let found) = PolicyFiles.read(paths) else { return [:] }
        return Dictionary(found.files.map { ($0.path, $0.bytes) }) { first, _ in first }
    }
}

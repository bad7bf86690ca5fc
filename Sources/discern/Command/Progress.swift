import Glibc

/// How far long work is, on standard error where a person sees it.
final class Progress {
    private let what: String
    private let isShown = isatty(STDERR_FILENO) == 1
    private var last = 0

    init(_ what: String) { self.what = what }

    /// Shows how far it is, a few times a second at most.
    func show(_ state: @autoclosure () -> String) {
        guard isShown else { return }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let tenths = now.tv_sec * 10 + now.tv_nsec / 100_000_000
        guard tenths > last else { return }
        last = tenths
        Terminal.write("\r\u{1B}[K\(what): \(state())", to: STDERR_FILENO)
    }

    /// Takes the line away.
    func end() {
        if isShown, last > 0 { Terminal.write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}

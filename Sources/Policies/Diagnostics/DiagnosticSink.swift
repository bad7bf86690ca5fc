/// Collects the findings of one file, so that a user sees all mistakes at once.
///
/// A class because every reading step adds to the same collection; it never leaves the thread that
/// reads the file.
package final class DiagnosticSink {
    package let file: String
    package let text: SourceText
    package private(set) var diagnostics: [PolicyDiagnostic] = []
    private var counts: [Severity: Int] = [:]
    private var suppressed: [Severity: Int] = [:]

    package init(file: String, text: SourceText) {
        self.file = file
        self.text = text
    }

    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// Whether something inside the range was refused already.
    package func hasErrors(in range: SourceRange?) -> Bool {
        guard let range else { return false }
        return diagnostics.contains {
            $0.severity == .error && $0.range.start >= range.start && $0.range.start <= range.end
        }
    }

    package func error(
        _ code: Code, _ message: String, at range: SourceRange, place: SourcePosition? = nil,
        help: String? = nil, fix: PolicyFix? = nil
    ) {
        add(.error, code.rawValue, message, range, at: place, help, fix: fix)
    }

    package func warning(
        _ code: Code, _ message: String, at range: SourceRange, help: String? = nil
    ) {
        add(.warning, code.rawValue, message, range, help)
    }

    package func add(
        _ severity: Severity, _ code: String, _ message: String, _ range: SourceRange,
        at place: SourcePosition? = nil, _ help: String?, fix: PolicyFix? = nil
    ) {
        // Counted apart: a hundred warnings must not hide the error after them.
        guard counts[severity, default: 0] < PolicyLimits.diagnosticsPerFile else {
            suppressed[severity, default: 0] += 1
            return
        }
        counts[severity, default: 0] += 1
        diagnostics.append(
            PolicyDiagnostic(
                severity: severity, code: code, message: message, help: help, file: file,
                range: range, place: place,
                fix: fix ?? PolicyFix.ofNearName(message, help, range, text)))
    }

    /// Everything found, in file order, and how much was left out.
    package func finish() -> [PolicyDiagnostic] {
        // Sorting by place alone would let equal places change order between runs.
        var result = diagnostics.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }.map(\.element)
        for severity in [Severity.error, .warning] {
            guard let count = suppressed[severity], let last = result.last else { continue }
            result.append(
                PolicyDiagnostic(
                    severity: severity, code: Code.tooManyDiagnostics.rawValue,
                    message: "\(count) more findings of this kind are not shown", file: file,
                    range: last.range))
        }
        return result
    }
}

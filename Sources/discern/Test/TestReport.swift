import Engine
import JSON

/// The results of tests as text, JSON, or JUnit's XML.
enum TestReport {
    static func pretty(_ results: [PolicyTestResult], isVerbose: Bool) -> String {
        var lines: [String] = []
        // Names are unique within a file only: one that several have is told with its file.
        let files = Dictionary(grouping: results, by: name).mapValues { Set($0.map(\.path)).count }
        for result in results where isVerbose || !result.failures.isEmpty {
            let mark = result.failures.isEmpty ? "ok  " : "FAIL"
            lines += Layout.beside(mark + " ", name(result))
            if result.failures.isEmpty, files[name(result), default: 1] > 1 {
                lines.append("     \(result.path):\(result.line)")
            }
            guard !result.failures.isEmpty else { continue }
            lines.append("     \(result.path):\(result.line)")
            for failure in result.failures { lines += Layout.beside("     ", failure) }
            lines += details(result)
        }
        let failed = results.count { !$0.failures.isEmpty }
        lines.append("\(results.count - failed) passed, \(failed) failed")
        return lines.joined(separator: "\n")
    }

    /// What `--run` looks into.
    private static func name(_ result: PolicyTestResult) -> String {
        "\(result.policy) / \(result.section) / \(result.name)"
    }

    /// Trees of the rules involved: those that matched, and those that a failure names; of a
    /// plain policy all, since its rules have no names.
    private static func details(_ result: PolicyTestResult) -> [String] {
        if let trace = result.trace {
            return TraceText.lines(trace, indent: 7) { rule in
                result.rules == nil || rule.verdict == "matched" || rule.verdict == "error"
                    || result.failures.contains { $0.contains(rule.name) }
            }
        }
        return (result.rules?.arrayValue ?? []).filter { $0["result"]?.stringValue != "pass" }
            .flatMap { Layout.beside("       ", verdict($0)) }
    }

    /// A rule of a review-prompt policy that does not pass:
    /// `rule: fail, tooSoon, have 1, need at least 7`.
    private static func verdict(_ rule: JSONValue) -> String {
        var text = "\(rule["rule"]?.stringValue ?? "?"): \(rule["result"]?.stringValue ?? "?")"
        if let cause = rule["cause"]?.stringValue { text += ", " + cause }
        text += amounts(rule)
        for part in rule["parts"]?.arrayValue ?? [] {
            let isMet = part["met"]?.boolValue == true
            text += "; \(part["reason"]?.stringValue ?? "?")\(amounts(part))"
            text += isMet ? ", met" : ", not met"
        }
        if let detail = rule["detail"]?.stringValue { text += "; " + detail }
        if let clears = rule["clearsAt"]?.stringValue { text += "; passes at " + clears }
        return text
    }

    private static func amounts(_ rule: JSONValue) -> String {
        let words = ["atLeast": "at least", "below": "below", "equal": "exactly"]
        var text = ""
        if let have = rule["have"] { text += ", have " + (have.stringValue ?? have.text) }
        for (key, value) in rule["need"]?.objectValue?.members ?? [] {
            text += ", need \(words[key] ?? key) " + (value.stringValue ?? value.text)
        }
        return text
    }

    static func json(_ report: PolicyTestReport, showsCoverage: Bool) -> JSONValue {
        let results = report.results
        let failed = results.count { !$0.failures.isEmpty }
        var object: JSONObject = [
            "passed": .int(Int64(results.count - failed)), "failed": .int(Int64(failed)),
            "tests": .array(
                results.map { result in
                    var object: JSONObject = [
                        "policy": .string(result.policy), "section": .string(result.section),
                        "name": .string(result.name), "file": .string(result.path),
                        "line": .int(Int64(result.line)),
                        "passed": .bool(result.failures.isEmpty),
                    ]
                    if !result.failures.isEmpty {
                        object["failures"] = .array(result.failures.map { .string($0) })
                        object["rules"] = result.rules
                        object["trace"] = result.trace.map(TraceText.json)
                    }
                    return .object(object)
                }),
        ]
        if showsCoverage { object["coverage"] = CoverageText.json(report.coverage) }
        return .object(object)
    }

    /// A test is identified by its file, as the class, and its name.
    static func junit(_ results: [PolicyTestResult]) -> String {
        let failed = results.count { !$0.failures.isEmpty }
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuite name=\"discern\" tests=\"\(results.count)\" failures=\"\(failed)\">",
        ]
        for result in results {
            let path = escaped(result.path)
            let start =
                "  <testcase classname=\"\(path)\" name=\"\(escaped(name(result)))\""
                + " file=\"\(path)\" line=\"\(result.line)\""
            if result.failures.isEmpty {
                lines.append(start + "/>")
            } else {
                let message = escaped(result.failures.joined(separator: "\n"))
                let details = escaped(details(result).joined(separator: "\n"))
                lines.append(
                    start + "><failure message=\"\(message)\">\(details)</failure></testcase>")
            }
        }
        return (lines + ["</testsuite>"]).joined(separator: "\n")
    }

    /// Text inside of an attribute. Control characters have no place in XML 1.0 at all.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\t": result += "&#9;"
            default:
                if scalar.value >= 0x20 {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += "?"
                }
            }
        }
        return result
    }
}

public import JSON
public import Policies

/// One case of the suite of CEL policies: the YAML files of one folder.
public struct PolicyCase: Sendable {
    /// The folder's name.
    public let name: String
    /// Its files, by their names in the folder.
    let files: [PolicyLoader.File]

    /// A folder with its YAML files.
    public init(name: String, files: [PolicyLoader.File]) {
        self.name = name
        self.files = files
    }

    /// The file that makes a folder a case.
    public static let policyFile = "policy.yaml"

    /// The environments that the policy is to be read with: `config.yaml`, and what the other
    /// configurations make together.
    var environments: [[PolicyLoader.File]] {
        let whole = files.filter { $0.path == "config.yaml" }
        let parts = files.filter { $0.path.hasSuffix("_config.yaml") }
        let environments = [whole, parts].filter { !$0.isEmpty }
        return environments.isEmpty ? [[]] : environments
    }
}

/// What the cases must give beyond their own tests: the content of `expectations.json`.
public struct PolicyExpectations: Sendable {
    /// A finding that the reading of a policy must report.
    struct Finding: Sendable {
        var line: Int
        var column: Int
        var message: String

        /// Parsers word these each in their own way.
        var isSyntax: Bool { message.hasPrefix("Syntax error") }
        var text: String { "\(line):\(column): \(message)" }
    }

    /// What is known about one case.
    struct Case: Sendable {
        /// The findings of each reading that must be refused.
        var refusals: [[Finding]] = []
        /// The type of the result.
        var resultType: String?
        /// For values of the input `match_id` the result.
        var outputs: [(id: String, text: String)] = []
    }

    private var cases: [String: Case] = [:]

    /// No expectations but those of the cases themselves.
    public static let none = PolicyExpectations(.object(JSONObject([])))

    /// Reads the file; what is missing in it is not expected.
    public init(_ json: JSONValue) {
        for key in ["cel_go_actual", "compile_errors", "unnested"] {
            for item in json[key]?.arrayValue ?? [] {
                guard let name = item["case"]?.stringValue else { continue }
                var known = cases[name] ?? Case()
                let error = item["error"]?.stringValue ?? item["compile_error"]?.stringValue
                if let error { known.refusals.append(Self.findings(error)) }
                known.resultType = item["output_type"]?.stringValue ?? known.resultType
                for (id, output) in item["outputs_by_match_id"]?.objectValue?.members ?? [] {
                    if let text = output.stringValue { known.outputs.append((id, text)) }
                }
                cases[name] = known
            }
        }
    }

    func expected(of name: String) -> Case { cases[name] ?? Case() }

    /// The lines `ERROR: path:line:column: message`; the excerpts between them are left out.
    private static func findings(_ text: String) -> [Finding] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ": ", maxSplits: 2)
            guard parts.count == 3, parts[0] == "ERROR" else { return nil }
            let place = parts[1].split(separator: ":").suffix(2).compactMap { Int($0) }
            guard place.count == 2 else { return nil }
            return Finding(line: place[0], column: place[1], message: String(parts[2]))
        }
    }
}

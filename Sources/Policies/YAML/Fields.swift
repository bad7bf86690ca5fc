import JSON
import Time

/// Reads the values of one mapping whose keys are known. Every finding goes to the sink; a reading
/// that failed gives nil and reading goes on, so that all mistakes of a file are found at once.
package struct Fields {
    package let node: YAMLNode
    package let sink: DiagnosticSink
    /// What the mapping is, for messages: `a rule`.
    package let what: String
    package let entries: [YAMLEntry]

    /// Nil where the node is not a mapping. Keys that are not known are reported.
    package init?(_ node: YAMLNode, _ what: String, keys known: [String], sink: DiagnosticSink) {
        guard case .mapping(let entries) = node.content else {
            sink.error(
                .wrongType, "\(what) must be a mapping, not \(node.typeName)", at: node.range,
                help: "known keys: " + known.map { "`\($0)`" }.joined(separator: ", "))
            return nil
        }
        self.init(node: node, sink: sink, what: what, entries: entries)
        for entry in entries where !known.contains(entry.key) {
            sink.error(
                .unknownKey, "\(what) has no key `\(entry.key)`", at: entry.keyRange,
                help: NearestName.help(entry.key, among: known, what: "keys"))
        }
    }

    private init(node: YAMLNode, sink: DiagnosticSink, what: String, entries: [YAMLEntry]) {
        self.node = node
        self.sink = sink
        self.what = what
        self.entries = entries
    }

    package func entry(_ key: String) -> YAMLEntry? { entries.first { $0.key == key } }

    package func has(_ key: String) -> Bool { entry(key) != nil }

    /// The value of a key; nil where it is left out.
    package subscript(_ key: String) -> YAMLNode? { entry(key)?.value }

    /// The value of a key that must be there.
    package func required(_ key: String) -> YAMLNode? {
        if let value = self[key] { return value }
        sink.error(.missingKey, "\(what) needs `\(key)`", at: headRange)
        return nil
    }

    /// Where to point for something that is not there: the first line of the mapping.
    package var headRange: SourceRange { entries.first?.keyRange ?? node.range }

    package func string(_ key: String) -> String? { self[key].flatMap { text($0, key) } }

    package func requiredString(_ key: String) -> String? {
        required(key).flatMap { text($0, key) }
    }

    private func text(_ node: YAMLNode, _ key: String) -> String? {
        Scalars.string(node, "`\(key)`", sink)
    }

    package func bool(_ key: String) -> Bool? {
        self[key].flatMap { Scalars.bool($0, "`\(key)`", sink) }
    }

    package func int(_ key: String, in range: ClosedRange<Int>) -> Int? {
        self[key].flatMap { Scalars.int($0, "`\(key)`", in: range, sink) }
    }

    package func double(_ key: String) -> Double? {
        self[key].flatMap { Scalars.double($0, "`\(key)`", sink) }
    }

    package func duration(_ key: String) -> Duration? {
        self[key].flatMap { Scalars.duration($0, "`\(key)`", sink) }
    }

    /// One of a closed set of names.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        self[key].flatMap { Scalars.choice($0, "`\(key)`", type, sink) }
    }

    /// The items of a list; empty where the key is left out or is no list.
    package func items(_ key: String) -> [YAMLNode] {
        self[key].map { Scalars.items($0, "`\(key)`", sink) } ?? []
    }

    /// The texts of a list of texts.
    package func strings(_ key: String) -> [(text: String, range: SourceRange)] {
        items(key).compactMap { item in
            Scalars.string(item, "an item of `\(key)`", sink).map { ($0, item.range) }
        }
    }

    /// The entries of a mapping with free keys; empty where the key is left out or is none.
    package func mapping(_ key: String) -> [YAMLEntry] {
        self[key].map { Scalars.entries($0, "`\(key)`", sink) } ?? []
    }
}

import CYAML

/// Reads one YAML document, strictly: what could be read in two ways, or could grow beyond the
/// file's own size, is refused with its place.
package struct YAMLReader: ~Copyable {
    private var parser: YAMLParser
    private let sink: DiagnosticSink
    private var nodes = 0
    /// Set by a fault after which the rest of the file has no meaning.
    private var stopped = false

    private init(parser: consuming YAMLParser, sink: DiagnosticSink) {
        self.parser = parser
        self.sink = sink
    }

    /// The document's root; nil if there is none that can be used, with the reason in the sink.
    package static func read(_ bytes: [UInt8], sink: DiagnosticSink) -> YAMLNode? {
        guard checkCharacters(sink) else { return nil }
        return bytes.withUnsafeBufferPointer { buffer -> YAMLNode? in
            guard let parser = YAMLParser(input: buffer) else { return nil }
            var reader = YAMLReader(parser: parser, sink: sink)
            return reader.document()
        }
    }

    /// Line breaks that editors do not count would make every later line number wrong.
    private static func checkCharacters(_ sink: DiagnosticSink) -> Bool {
        let scalars = sink.text.scalars
        for (index, scalar) in scalars.enumerated() {
            let isLoneReturn =
                scalar == "\r" && !(index + 1 < scalars.count && scalars[index + 1] == "\n")
            guard isLoneReturn || ["\u{85}", "\u{2028}", "\u{2029}"].contains(scalar) else {
                continue
            }
            let place = sink.text.position(at: index)
            sink.error(
                .lineBreak, "this line break character is not allowed",
                at: SourceRange(start: place, end: place),
                help: "end lines with LF or CRLF; inside double quotes write the character as \\u…")
            return false
        }
        return true
    }

    private mutating func document() -> YAMLNode? {
        var root: YAMLNode?
        while !stopped, let event = next() {
            switch event.kind {
            case .streamEnd:
                guard root == nil || root?.isNull == true else { return root }
                let start = SourcePosition(line: 1, column: 1)
                sink.error(
                    .emptyFile, "the file holds nothing but blanks and comments",
                    at: SourceRange(start: start, end: start),
                    help: "remove the file, or write a policy, a model or tests into it")
                return nil
            case .documentStart where root != nil:
                sink.error(
                    .severalDocuments, "a file holds one document only", at: range(of: event),
                    help: "move what follows into a file of its own")
                return nil
            case .scalar, .sequenceStart, .mappingStart, .alias:
                root = node(event, depth: 1)
            case .documentStart, .end, .other: continue
            }
        }
        return nil
    }

    private mutating func next() -> YAMLEvent? {
        guard !stopped else { return nil }
        if let event = parser.next() { return event }
        let (message, mark, begun) = parser.fault
        let place = SourcePosition(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
        sink.error(
            .yamlSyntax, message, at: SourceRange(start: place, end: place),
            help: message.hasPrefix("mapping values")
                ? "`: ` begins a mapping: put the expression into quotes, or below `|`"
                : begun.map { "it begins on line \($0)" })
        stopped = true
        return nil
    }

    private mutating func stop(_ code: Code, _ message: String, _ event: YAMLEvent, help: String) {
        sink.error(code, message, at: range(of: event), help: help)
        stopped = true
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) -> YAMLNode? {
        nodes += 1
        guard nodes <= PolicyLimits.yamlNodes else {
            stop(
                .tooLarge, "the file has more than \(PolicyLimits.yamlNodes) values", event,
                help: "split the file")
            return nil
        }
        guard depth <= PolicyLimits.yamlDepth else {
            stop(
                .tooDeep, "nested deeper than \(PolicyLimits.yamlDepth) levels", event,
                help: "flatten the file")
            return nil
        }
        checkProperties(event)
        switch event.kind {
        case .scalar(let text, let style):
            let scalar = YAMLScalar(
                text: text, style: style, isForcedString: event.tag == "tag:yaml.org,2002:str")
            return YAMLNode(content: .scalar(scalar), range: range(of: event))
        case .sequenceStart: return sequence(event, depth: depth)
        case .mappingStart: return mapping(event, depth: depth)
        case .alias:
            sink.error(
                .anchorOrAlias, "aliases are not allowed", at: range(of: event),
                help: "write the value out, or name it in `variables`")
            // A null stands in, so that the rest of the file is still checked.
            let scalar = YAMLScalar(text: "", style: .plain, isForcedString: false)
            return YAMLNode(content: .scalar(scalar), range: range(of: event))
        case .streamEnd, .documentStart, .end, .other: return nil
        }
    }

    private func checkProperties(_ event: YAMLEvent) {
        if event.hasAnchor, !isAlias(event) {
            sink.error(
                .anchorOrAlias, "anchors are not allowed", at: range(of: event),
                help: "write the value out, or name it in `variables`")
        }
        let known = ["str", "int", "float", "bool", "null", "map", "seq"]
        if let tag = event.tag, tag != "!",
            !known.contains(where: { tag == "tag:yaml.org,2002:" + $0 })
        {
            sink.error(
                .unknownTag, "the tag `\(tag)` is not known", at: range(of: event),
                help: "remove the tag")
        }
    }

    private func isAlias(_ event: YAMLEvent) -> Bool {
        if case .alias = event.kind { true } else { false }
    }

    private mutating func sequence(_ start: YAMLEvent, depth: Int) -> YAMLNode? {
        var items: [YAMLNode] = []
        while let event = next() {
            if case .end = event.kind {
                return YAMLNode(content: .sequence(items), range: range(from: start, to: event))
            }
            guard let item = node(event, depth: depth + 1) else { return nil }
            items.append(item)
        }
        return nil
    }

    private mutating func mapping(_ start: YAMLEvent, depth: Int) -> YAMLNode? {
        var entries: [YAMLEntry] = []
        var seen: [String: SourceRange] = [:]
        while let event = next() {
            if case .end = event.kind {
                return YAMLNode(content: .mapping(entries), range: range(from: start, to: event))
            }
            guard let key = node(event, depth: depth + 1), let valueEvent = next(),
                let value = node(valueEvent, depth: depth + 1)
            else { return nil }
            guard let name = key.scalar?.text else {
                sink.error(.badKey, "a key must be plain text", at: key.range)
                continue
            }
            if let first = seen[name] {
                sink.error(
                    .duplicateKey, "`\(name)` is given twice", at: key.range,
                    help: "the first is on line \(first.start.line)")
                continue
            }
            seen[name] = key.range
            entries.append(YAMLEntry(key: name, keyRange: key.range, value: value))
        }
        return nil
    }

    private func range(of event: YAMLEvent) -> SourceRange { range(from: event, to: event) }

    private func range(from first: YAMLEvent, to last: YAMLEvent) -> SourceRange {
        SourceRange(
            start: SourcePosition(
                line: Int(first.start.line) + 1, column: Int(first.start.column) + 1),
            end: SourcePosition(line: Int(last.end.line) + 1, column: Int(last.end.column) + 1))
    }
}

import CYAML

/// libyaml's parser, released with the value.
struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// Nil when the library cannot get memory. `input` must outlive the parser.
    init?(input: UnsafeBufferPointer<UInt8>) {
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            return nil
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// What the library says of the fault that made `next` give nothing: where, and on which line
    /// the thing began that it could not end.
    var fault: (message: String, mark: yaml_mark_t, begun: Int?) {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "cannot be read"
        let context = parser.pointee.context.map { " " + String(cString: $0) } ?? ""
        let begun = parser.pointee.context == nil ? nil : Int(parser.pointee.context_mark.line) + 1
        return (problem + context, parser.pointee.problem_mark, begun)
    }

    /// The next event; nil for a fault.
    mutating func next() -> YAMLEvent? {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { return nil }
        defer { yaml_event_delete(&event) }
        return YAMLEvent(event)
    }
}

/// The part of a library event that the reader needs, copied out so that nothing is left to release.
struct YAMLEvent {
    enum Kind {
        case streamEnd
        case documentStart
        case scalar(String, YAMLScalar.Style)
        case sequenceStart
        case mappingStart
        case end
        case alias
        case other
    }

    let kind: Kind
    let start: yaml_mark_t
    let end: yaml_mark_t
    let tag: String?
    let hasAnchor: Bool

    init(_ event: yaml_event_t) {
        start = event.start_mark
        end = event.end_mark
        var tag: UnsafeMutablePointer<yaml_char_t>?
        var anchor: UnsafeMutablePointer<yaml_char_t>?
        switch event.type {
        case YAML_STREAM_END_EVENT: kind = .streamEnd
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_SEQUENCE_START_EVENT:
            tag = event.data.sequence_start.tag
            anchor = event.data.sequence_start.anchor
            kind = .sequenceStart
        case YAML_MAPPING_START_EVENT:
            tag = event.data.mapping_start.tag
            anchor = event.data.mapping_start.anchor
            kind = .mappingStart
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: kind = .end
        case YAML_ALIAS_EVENT: kind = .alias
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            tag = scalar.tag
            anchor = scalar.anchor
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            kind = .scalar(String(decoding: bytes, as: UTF8.self), Self.style(scalar.style))
        default: kind = .other
        }
        self.tag = tag.map {
            String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        }
        hasAnchor = anchor != nil
    }

    private static func style(_ style: yaml_scalar_style_t) -> YAMLScalar.Style {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
        case YAML_LITERAL_SCALAR_STYLE: .literal
        case YAML_FOLDED_SCALAR_STYLE: .folded
        default: .plain
        }
    }
}

/// A path with named gaps, such as `/v1/evaluations/{id}`.
public struct PathTemplate: Sendable, Hashable, CustomStringConvertible {
    /// The text it was made of.
    public let description: String
    let segments: [Segment]

    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// Nil unless the text begins with a slash and every segment is a plain word or a `{name}`,
    /// no name twice.
    public init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments: [Segment] = []
        for word in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard !word.isEmpty else { return nil }
            if word.hasPrefix("{"), word.hasSuffix("}"), word.count > 2 {
                let segment = Segment.parameter(String(word.dropFirst().dropLast()))
                guard !segments.contains(segment) else { return nil }
                segments.append(segment)
            } else if word.contains(where: { "{}%?#".contains($0) }) {
                return nil
            } else {
                segments.append(.literal(String(word)))
            }
        }
        description = text
        self.segments = segments
    }

    /// The names of the gaps, in order.
    public var parameters: [String] {
        segments.compactMap {
            if case .parameter(let name) = $0 { name } else { nil }
        }
    }

    var isLiteral: Bool { parameters.isEmpty }

    /// What stands in the gaps if a path, cut at its slashes, fits; still encoded.
    func match(_ words: [Substring]) -> [Substring]? {
        guard words.count == segments.count else { return nil }
        var values: [Substring] = []
        for (segment, word) in zip(segments, words) {
            switch segment {
            case .literal(let literal): guard word == literal else { return nil }
            case .parameter:
                guard !word.isEmpty else { return nil }
                values.append(word)
            }
        }
        return values
    }

    /// Whether some path fits both and neither is the more literal one.
    func isAmbiguous(with other: PathTemplate) -> Bool {
        guard segments.count == other.segments.count else { return false }
        for (mine, theirs) in zip(segments, other.segments) {
            switch (mine, theirs) {
            case (.literal(let a), .literal(let b)): if a != b { return false }
            case (.parameter, .parameter): continue
            default: return false
            }
        }
        return true
    }
}

extension PathTemplate: ExpressibleByStringLiteral {
    /// A path written in our own source; a malformed one is a mistake there, seen at the first
    /// start, which no input can cause.
    public init(stringLiteral text: String) {
        guard let template = PathTemplate(text) else {
            // Templates are written in the route table only: a mistake of ours, met at the start.
            preconditionFailure("malformed path template \(text)")
        }
        self = template
    }
}

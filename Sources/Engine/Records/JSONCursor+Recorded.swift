import JSON
import Policies
import Time
import TrustInsights

/// Reading single members out of payloads, where whole records would cost too much.
extension JSONCursor {
    var instant: Instant? { withText { Instant(rfc3339: $0) } ?? nil }

    var identifier: Identifier? { withText { Identifier(utf8: $0) } ?? nil }

    /// One of a closed set of names.
    func choice<T: CaseIterable & RawRepresentable<String>>(_ type: T.Type) -> T? {
        T.allCases.first { isText($0.rawValue) }
    }

    var pseudonym: Pseudonym? { withText { Pseudonym(hexadecimal: $0) } ?? nil }

    /// A policy or model; the one given where that has the same digest.
    func reference(like known: VersionReference?) -> VersionReference? {
        guard let digest = self["digest"] else { return nil }
        if let known, digest.isText(known.digest) { return known }
        guard let name = self["name"]?.string, let version = self["version"]?.int,
            let text = digest.string
        else { return nil }
        return VersionReference(name: name, version: version, digest: text)
    }

    /// An attribute's value, as ``RecordedValue`` is written.
    var recorded: RecordedValue? {
        if let text = string { return .value(.string(text)) }
        if let flag = bool { return .value(.bool(flag)) }
        if isDouble { return double.map { .value(.double($0)) } }
        if let number = int { return .value(.int(number)) }
        if let digest = self["digest"]?.string { return .digest(digest) }
        return self["timestamp"]?.instant.map { .value(.timestamp($0)) }
    }

    /// An evaluation's attributes; `nil` if one of them is not as written.
    var recordedAttributes: [RecordedAttribute]? {
        var attributes: [RecordedAttribute] = []
        attributes.reserveCapacity(count)
        var isWhole = true
        forEachMember { name, value in
            guard let value = value.recorded else {
                isWhole = false
                return
            }
            attributes.append(
                RecordedAttribute(name: String(decoding: name, as: UTF8.self), value: value))
        }
        return isWhole ? attributes : nil
    }
}

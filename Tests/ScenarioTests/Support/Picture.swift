import Foundation
import FoundationXML

/// An SVG as a reader of XML finds it: its texts with the room that they take.
final class Picture: NSObject, XMLParserDelegate {
    struct Malformed: Error { var line: Int }

    struct Text {
        var text = ""
        var x = 0.0
        var y = 0.0
        var size = 13.0
        var anchor = "start"
        var isTurned = false

        /// Somewhat more than the letters of the usual fonts take.
        var width: Double { Double(text.count) * size * 0.6 }
        var left: Double {
            switch anchor {
            case "middle": x - width / 2
            case "end": x - width
            default: x
            }
        }
        var right: Double { left + width }
    }

    private(set) var texts: [Text] = []
    private(set) var bars = 0
    private var open: Text?
    private var width = 0.0
    private var height = 0.0

    init(_ path: String) throws {
        super.init()
        let parser = XMLParser(data: Data(Files.bytes(path)))
        parser.delegate = self
        guard parser.parse(), width > 0, height > 0 else {
            throw Malformed(line: parser.lineNumber)
        }
    }

    /// Pairs of texts that lie on one another.
    var overlapping: [String] {
        let level = texts.filter { !$0.isTurned }
        return level.indices.flatMap { first in
            level[(first + 1)...].filter { second in
                let mine = level[first]
                return abs(mine.y - second.y) < max(mine.size, second.size)
                    && mine.left < second.right && second.left < mine.right
            }.map { "\(level[first].text) | \($0.text)" }
        }
    }

    /// Texts that leave the picture.
    var outside: [String] {
        texts.filter {
            !$0.isTurned
                && ($0.left < 0 || $0.right > width || $0.y < $0.size || $0.y > height - 4)
        }.map(\.text)
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        func number(_ name: String) -> Double { attributes[name].flatMap(Double.init) ?? 0 }
        switch name {
        case "svg": (width, height) = (number("width"), number("height"))
        case "rect": bars += 1
        case "text":
            open = Text(
                x: number("x"), y: number("y"),
                size: attributes["font-size"].flatMap(Double.init) ?? 13,
                anchor: attributes["text-anchor"] ?? "start",
                isTurned: attributes["transform"] != nil)
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { open?.text += string }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard name == "text", let text = open else { return }
        texts.append(text)
        open = nil
    }
}

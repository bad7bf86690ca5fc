/// A file opened for reading: its text and its findings.
package struct YAMLFile {
    package let sink: DiagnosticSink
    /// The document's root; nil where the file cannot be used, with the reason in the sink.
    package let root: YAMLNode?

    package init(path: String, bytes: [UInt8]) {
        let start = SourcePosition(line: 1, column: 1)
        let top = SourceRange(start: start, end: start)
        guard bytes.count <= PolicyLimits.fileBytes else {
            sink = DiagnosticSink(file: path, text: SourceText(""))
            sink.error(
                .tooLarge,
                "the file has more than \(PolicyLimits.fileBytes) bytes", at: top,
                help: "split the file")
            root = nil
            return
        }
        // A byte order mark is not part of the text; positions would be off by one.
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        guard let text = String(validating: content, as: UTF8.self) else {
            let repaired = SourceText(String(decoding: content, as: UTF8.self))
            sink = DiagnosticSink(file: path, text: repaired)
            let place = repaired.position(at: Self.firstFault(content))
            sink.error(
                .encoding, "the file is not UTF-8 text",
                at: SourceRange(start: place, end: place), help: "save the file as UTF-8")
            root = nil
            return
        }
        sink = DiagnosticSink(file: path, text: SourceText(text))
        root = YAMLReader.read(content, sink: sink)
    }

    /// How many scalars stand before the first byte that is not UTF-8.
    private static func firstFault(_ bytes: [UInt8]) -> Int {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        var count = 0
        while case .scalarValue = decoder.decode(&iterator) { count += 1 }
        return count
    }
}

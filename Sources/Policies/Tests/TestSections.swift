import Time

/// Reads `section:` of any test file, and sees to it that names are unique.
struct TestSections {
    let sink: DiagnosticSink

    func read<Test>(
        _ fields: Fields, test read: (YAMLNode) -> (name: String, test: Test)?
    ) -> [(name: String, tests: [Test])] {
        guard let list = fields.required("section") else { return [] }
        var names: Set<String> = []
        var sections: [(name: String, tests: [Test])] = []
        for item in fields.items("section") {
            guard
                let section = Fields(
                    item, "a section", keys: ["name", "description", "tests"], sink: sink)
            else { continue }
            let name = section.requiredString("name")
            if let name, !names.insert(name).inserted, let node = section["name"] {
                sink.error(
                    .duplicateName, "the section `\(name)` is given twice", at: node.range)
            }
            sections.append((name ?? "", tests(section, read)))
        }
        if case .sequence(let items) = list.content, items.isEmpty {
            sink.error(.noTests, "the file holds no tests", at: list.range)
        }
        return sections
    }

    private func tests<Test>(
        _ section: Fields, _ read: (YAMLNode) -> (name: String, test: Test)?
    ) -> [Test] {
        guard let list = section.required("tests") else { return [] }
        if case .sequence(let items) = list.content, items.isEmpty {
            sink.error(.noTests, "the section holds no tests", at: list.range)
        }
        var names: Set<String> = []
        return section.items("tests").compactMap { item in
            guard let (name, test) = read(item) else { return nil }
            if !names.insert(name).inserted {
                sink.error(
                    .duplicateName, "the test `\(name)` is given twice", at: nameRange(item))
            }
            return test
        }
    }

    private func nameRange(_ node: YAMLNode) -> SourceRange {
        guard case .mapping(let entries) = node.content,
            let entry = entries.first(where: { $0.key == "name" })
        else { return node.range }
        return entry.value.range
    }
}

/// Reads the times that tests write.
struct TestTimes {
    let sink: DiagnosticSink

    func instant(_ node: YAMLNode, _ what: String) -> Instant? {
        guard let text = Scalars.string(node, what, sink) else { return nil }
        if let instant = Instant(rfc3339: text) { return instant }
        sink.error(
            .wrongType, "\(what) must be a time, not `\(text)`", at: node.range,
            help: "write `2026-11-30T12:00:00Z`")
        return nil
    }

    /// An instant, or `-10m` before another.
    func moment(_ node: YAMLNode, _ what: String, before now: Instant) -> Instant? {
        guard let text = Scalars.string(node, what, sink) else { return nil }
        if text.hasPrefix("-"), let span = Duration(policyText: text.dropFirst()) {
            return now - span
        }
        if let instant = Instant(rfc3339: text) {
            if instant > now {
                sink.error(.badInput, "an earlier event is not after `now`", at: node.range)
            }
            return instant
        }
        sink.error(
            .wrongType, "\(what) must be a time or a time before `now`, not `\(text)`",
            at: node.range, help: "write `-10m` or `2026-11-30T11:50:00Z`")
        return nil
    }
}

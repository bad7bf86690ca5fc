import CEL

/// Lays a policy, model or test file out: indentation, blanks, blank lines, and the expressions in
/// it. Order, comments and content stay as they are.
public enum FileFormatter {
    /// Why a file is left as it is.
    public struct Refusal: Error, Sendable {
        /// Where it was noticed.
        public let line: Int
        /// What stands in the way.
        public let reason: String
    }

    /// The file's new content; its own where nothing changes. Laying that out again changes
    /// nothing. What cannot be read as YAML or as an expression, or would come to mean anything
    /// else, is refused.
    public static func format(_ file: PolicyLoader.File) throws(Refusal) -> [UInt8] {
        let yaml = YAMLFile(path: file.path, bytes: file.bytes)
        guard let root = yaml.root, !yaml.sink.hasErrors else {
            let first = yaml.sink.finish().first { $0.severity == .error }
            throw Refusal(
                line: first?.place.line ?? 1, reason: first?.message ?? "it cannot be read")
        }
        let keys = ExpressionKeys(role: FileRole.of(yaml, path: file.path))
        for (scalar, line) in keys.expressions(in: root) {
            if let fault = ExpressionText.fault(scalar.text) {
                throw Refusal(line: line, reason: fault)
            }
        }
        var writer = FileWriter(text: yaml.sink.text, root: root, keys: keys)
        let text = try writer.write(root)
        let result = Array(text.utf8)
        let again = YAMLFile(path: file.path, bytes: result)
        guard let other = again.root, !again.sink.hasErrors,
            let difference = SameContent(
                keys: keys, before: yaml.sink.text, after: again.sink.text
            ).firstDifference(root, other)
        else {
            return again.root == nil || again.sink.hasErrors
                ? try refuse(1, "it would not be YAML any more") : result
        }
        return try refuse(difference, "this would come to mean something else")
    }

    /// The lines of expressions that are left as they are because they hold comments, which are no
    /// part of an expression's tree.
    public static func commentedExpressions(_ file: PolicyLoader.File) -> [Int] {
        let yaml = YAMLFile(path: file.path, bytes: file.bytes)
        guard let root = yaml.root else { return [] }
        return ExpressionKeys(role: FileRole.of(yaml, path: file.path)).expressions(in: root)
            .filter { ExpressionText.parse($0.scalar.text)?.hasComments == true }.map(\.line)
    }

    private static func refuse(_ line: Int, _ reason: String) throws(Refusal) -> [UInt8] {
        throw Refusal(line: line, reason: reason)
    }
}

/// Which values of a file are expressions.
struct ExpressionKeys {
    let role: LoadedFile.Role

    func isExpression(_ key: String) -> Bool {
        switch role {
        case .trust: ["condition", "explanation", "expression"].contains(key)
        case .plain: ["condition", "explanation", "expression", "output"].contains(key)
        case .reviewPrompt: key == "when"
        case .model, .tests, .environment, .unusable: false
        }
    }

    /// The expressions below a node that are not empty, with the lines they begin at.
    func expressions(in root: YAMLNode) -> [(scalar: YAMLScalar, line: Int)] {
        var found: [(scalar: YAMLScalar, line: Int)] = []
        func visit(_ node: YAMLNode, isExpression: Bool) {
            switch node.content {
            case .scalar(let scalar):
                if isExpression, !scalar.isNull { found.append((scalar, node.range.start.line)) }
            case .sequence(let items): items.forEach { visit($0, isExpression: false) }
            case .mapping(let entries):
                for entry in entries {
                    visit(entry.value, isExpression: self.isExpression(entry.key))
                }
            }
        }
        visit(root, isExpression: false)
        return found
    }
}

/// Compares two files that should say the same.
private struct SameContent {
    let keys: ExpressionKeys
    let before: SourceText
    let after: SourceText

    /// The line of the first value that differs; nil if none does.
    func firstDifference(_ left: YAMLNode, _ right: YAMLNode, isExpression: Bool = false) -> Int? {
        let line = left.range.start.line
        switch (left.content, right.content) {
        case (.scalar(let mine), .scalar(let theirs)):
            if isExpression {
                let first = ScalarMap(mine, range: left.range, source: before).text
                let second = ScalarMap(theirs, range: right.range, source: after).text
                if let ast = ExpressionText.parse(first), let other = ExpressionText.parse(second) {
                    return ast.hasSameMeaning(as: other) ? nil : line
                }
            }
            return mine.text == theirs.text && mine.isPlain == theirs.isPlain ? nil : line
        case (.sequence(let mine), .sequence(let theirs)):
            guard mine.count == theirs.count else { return line }
            return zip(mine, theirs).lazy.compactMap { firstDifference($0, $1) }.first
        case (.mapping(let mine), .mapping(let theirs)):
            guard mine.map(\.key) == theirs.map(\.key) else { return line }
            return zip(mine, theirs).lazy.compactMap {
                firstDifference(
                    $0.value, $1.value, isExpression: keys.isExpression($0.key))
            }.first
        default: return line
        }
    }
}

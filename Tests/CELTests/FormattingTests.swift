import CEL
import Foundation
import Testing

/// Layout of expressions: the same tree, and nothing left to lay out.
@Suite("The layout of expressions")
struct FormattingTests {
    static let cases: [(String, String)] = [
        ("a&&b", "a && b"), ("a+b*c", "a + b * c"), ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"), ("(a-b)-c", "(a - b) - c"), ("((a))", "a"), ("f((a))", "f(a)"),
        ("(a&&b)||c", "(a && b) || c"), ("a&&b||c", "a && b || c"), ("(a||b)&&c", "(a || b) && c"),
        ("a&&(b&&c)", "a && (b && c)"), ("(a&&b)&&c", "a && b && c"),
        ("(a&&b)&&(c&&d)", "a && b && c && d"), ("a?b:c?d:e", "a ? b : c ? d : e"),
        ("(a?b:c)?d:e", "(a ? b : c) ? d : e"), ("a?(b?c:d):e", "a ? (b ? c : d) : e"),
        ("!a", "!a"), ("!(a&&b)", "!(a && b)"), ("- 5", "-5"), ("-(5)", "-(5)"), ("--5", "--5"),
        ("-a.b", "-a.b"), ("a - -5", "a - -5"), ("-(5.0).x", "-(5.0.x)"), ("'x'", "\"x\""),
        ("'\"'", "'\"'"), ("'a\\'b'", "'a\\'b'"), ("r'a\\b'", "r'a\\b'"), ("b'x'", "b'x'"),
        ("'''x'''", "'''x'''"), ("0x1F+1e3", "0x1F + 1e3"), ("1u", "1u"),
        ("[1,?a , 2,]", "[1, ?a, 2]"), ("{'a':1,?b:c}", "{\"a\": 1, ?b: c}"), ("{}", "{}"),
        ("a . b [ 0 ]", "a.b[0]"), ("a[?0].?b", "a[?0].?b"), ("a.`b-c`", "a.`b-c`"),
        ("has( a.b )", "has(a.b)"), ("x in[1]", "x in [1]"),
        ("l.exists( x,x>1 )", "l.exists(x, x > 1)"), ("l.exists_one(x,x)", "l.exists_one(x, x)"),
        ("l.map(x,x>1,x*2)", "l.map(x, x > 1, x * 2)"), ("(a+b).size()", "(a + b).size()"),
        ("cel.bind(x,1,x+1)", "cel.bind(x, 1, x + 1)"),
        ("google.protobuf.Duration{seconds:1}", "google.protobuf.Duration{seconds: 1}"),
        (".a.b", ".a.b"), ("a\n&&\nb", "a && b"), ("(a\n&& b) ||c", "(a && b) || c"),
        (
            "cel.block([1,cel.index(0)+1],cel.index(1))",
            "cel.block([1, cel.index(0) + 1], cel.index(1))"
        ),
    ]

    private static func tree(_ text: String) throws -> AST {
        var environment = Environment()
        environment.checking = .lenient
        let result = environment.compile(text)
        try #require(result.diagnostics.allSatisfy { $0.severity != .error }, "\(text)")
        return result.ast
    }

    private static func check(_ text: String) throws {
        let ast = try tree(text)
        guard let written = ast.formatted() else {
            #expect(ast.hasComments, "\(text)")
            return
        }
        let again = try tree(written)
        #expect(ast.hasSameMeaning(as: again), "\(text) became \(written)")
        #expect(again.formatted() == written, "\(written)")
    }

    @Test(arguments: cases) func isLaidOut(_ text: String, _ expected: String) throws {
        #expect(try Self.tree(text).formatted() == expected)
        try Self.check(text)
    }

    @Test func commentsAreNotLost() throws {
        let ast = try Self.tree("a && // why\n b")
        #expect(ast.hasComments)
        #expect(ast.formatted() == nil)
        #expect(try !Self.tree("'a // b'").hasComments)
    }

    @Test func otherExpressionsAreOther() throws {
        for (left, right) in [
            ("a && b", "b && a"), ("1", "1u"), ("1", "1.0"), ("a.b", "a.?b"), ("f(a)", "a.f()"),
            ("'a'", "b'a'"), ("[a]", "[?a]"), ("l.all(x, x)", "l.exists(x, x)"), ("-(5)", "-5"),
        ] {
            #expect(try !Self.tree(left).hasSameMeaning(as: Self.tree(right)), "\(left) \(right)")
        }
    }

    /// Every expression of the documents and of these tests' own sources that parses.
    @Test func whateverIsWrittenDownKeepsItsTree() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        var texts: Set<Substring> = []
        for name in ["docs/cel.md", "docs/policy-language.md"] {
            let text = String(
                decoding: try Data(contentsOf: root.appending(path: name)), as: UTF8.self)
            for line in text.split(separator: "\n") {
                texts.insert(line)
                for part in line.split(separator: "`") { texts.insert(part) }
            }
        }
        let folder = root.appending(path: "Tests/CELTests/Specification")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = String(
                decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
            for match in text.matches(of: #/"((?:[^"\\]|\\.)*)"/#) {
                let content = match.1.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
                texts.insert(Substring(content))
            }
        }
        var environment = Environment()
        environment.checking = .lenient
        var count = 0
        for text in texts.sorted() {
            let result = environment.compile(String(text))
            guard result.diagnostics.allSatisfy({ $0.severity != .error }) else { continue }
            try Self.check(String(text))
            count += 1
        }
        #expect(count > 1_000)
    }

    @Test func whateverIsMadeUpKeepsItsTree() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1_500 { try Self.check(Self.expression(&random, depth: 4)) }
    }

    private static func expression(
        _ random: inout SystemRandomNumberGenerator, depth: Int
    ) -> String {
        let leaves = ["a", "b.c", "1", "-2", "2u", "3.5", "'x'", "\"y\"", "true", "null", "b'z'"]
        guard depth > 0 else { return leaves.randomElement(using: &random) ?? "a" }
        let part = { (random: inout SystemRandomNumberGenerator) in
            let text = expression(&random, depth: Int.random(in: 0..<depth, using: &random))
            return Bool.random(using: &random) ? "(\(text))" : text
        }
        let signs = ["&&", "||", "==", "!=", "<", "in ", "+", "-", "*", "/", "%"]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...4:
            let sign = signs.randomElement(using: &random) ?? "+"
            return part(&random) + " " + sign + part(&random)
        case 5: return "(\(part(&random)))?(\(part(&random))):\(part(&random))"
        case 6: return (Bool.random(using: &random) ? "!" : "-") + "(\(part(&random)))"
        case 7: return "[\(part(&random)),\(part(&random))].exists(x,\(part(&random)))"
        case 8: return "(\(part(&random))).f(\(part(&random)),{'k':\(part(&random))})"
        default: return "(\(part(&random)))[\(part(&random))]"
        }
    }
}

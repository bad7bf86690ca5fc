import CEL
import Foundation
import Testing

/// The code of the articles in Sources/CEL/CEL.docc, run. A test holds the articles to it.
@Suite("Articles")
struct ArticleTests {
    @Test func gettingStarted() throws {
        var environment = Environment()
        let amount = try environment.declare("amount", .double).lowerBound
        let country = try environment.declare("country", .string).lowerBound

        let compiled = environment.compile("amount > 500.0 && country in ['NL', 'BE']")
        let program = try #require(compiled.program)
        #expect(program.resultType == .bool)

        var activation = Activation(environment)
        activation.set(amount, 900.0)
        activation.set(country, "NL")
        #expect(program.evaluate(&activation).value == .bool(true))

        switch program.evaluateCondition(&activation) {
        case .matched: print("ask again")
        case .notMatched: print("go on")
        case .failed(let error): print(error.message)
        }

        let text = "amount > 500 && contry == 'NL'"
        let refused = environment.compile(text)
        #expect(refused.program == nil)
        #expect(refused.diagnostics.map(\.code) == ["cel.undeclared"])
        #expect(refused.diagnostics.first?.help == "did you mean `country`?")
        print(SourceText(Array(text.utf8), name: "rule").render(refused.diagnostics[0]))

        let division = try #require(
            environment.compile("100.0 / amount > 1.0 && 1 / size(country) > 0").program)
        activation.set(amount, 5.0)
        activation.set(country, "")
        let failure = try #require(division.evaluate(&activation).error)
        #expect(failure.code == .divisionByZero)
        #expect(
            division.source.utf8.dropFirst(failure.range.lowerBound).starts(with: "1 / size".utf8))

        activation.clear(amount)
        activation.set(country, "NL")
        let missing = try #require(program.evaluate(&activation).error)
        #expect(missing.code == .missing && missing.missing == ["amount"])

        var small = Environment()
        small.limits.cost = 1000
        let loop = try #require(
            small.compile("lists.range(100).all(x, lists.range(100).all(y, x + y >= 0))").program)
        var empty = Activation(small)
        #expect(loop.evaluate(&empty).error?.code == .costLimit)
    }

    @Test func embedding() throws {
        var environment = Environment()
        let attributes = ObjectType(
            name: "attributes",
            fields: [
                .init("amount", .double),
                .init("payee", .string, isOptional: true),
                .init("channel", .string, values: ["app", "web"]),
            ])
        try environment.declare("attributes", .object(attributes))
        let amount = try #require(environment.slot("attributes.amount"))

        environment.declare(
            Function(
                name: "domain",
                overloads: [
                    .init(
                        id: "string_domain", parameters: [.string], result: .string, isMember: true)
                ]
            ) { arguments in
                guard case .string(let address) = arguments[0],
                    let at = address.lastIndex(of: "@")
                else { return .failure(EvaluationError(.hostFunction, "no address of mail")) }
                return .success(.string(String(address[address.index(after: at)...])))
            })
        let domain = try #require(environment.compile("'a@example.com'.domain()").program)
        var activation = Activation(environment)
        #expect(domain.evaluate(&activation).value == .string("example.com"))

        let large = try #require(environment.compile("attributes.amount >= 500.0").program)
        try environment.declare("variables.large", computedBy: large)
        let rule = try #require(
            environment.compile("variables.large && has(attributes.payee) ? 'hold' : 'pass'")
                .program)
        var values = Activation(environment)
        values.set(amount, 900.0)
        #expect(rule.evaluate(&values).value == .string("pass"))

        let parts = rule.ast.children(of: rule.root)
        let condition = try #require(rule.part(parts[0]))
        #expect(condition.source == rule.source && condition.resultType == .bool)
        #expect(!condition.traced().evaluate(&values).trace.isEmpty)

        let result = rule.evaluate(&values)
        #expect(result.cost > 0 && result.cost < 100)
        #expect(rule.evaluate(&values, costLimit: 1).error?.code == .costLimit)
    }

    /// Every block of code in an article stands in this file, whatever its indentation.
    @Test(arguments: ["GettingStarted", "Embedding"])
    func theCodeIsThatOfTheArticles(_ name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/CEL/CEL.docc/\(name).md"), encoding: .utf8)
        let here = Self.words(try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = article.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let isHere = here.contains(Self.words(block))
            #expect(isHere, "\(block)")
        }
    }

    /// The text without blanks, since the two break lines at different places.
    private static func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}

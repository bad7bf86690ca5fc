import CEL
import Foundation
import Testing

@Suite("Estimates of cost")
struct CostEstimateTests {
    private func environment() throws -> Environment {
        var environment = try Environment.payment()
        for (name, type) in [
            ("l", Type.list(.int)), ("s", .string), ("x", .dyn), ("m", .map(.string, .int)),
        ] { try environment.declare(name, type) }
        return environment
    }

    typealias Row = (expression: String, isBounded: Bool, isExact: Bool)

    static let rows: [Row] = [
        ("attributes.amount > 5.0 && attributes.newPayee", true, true),
        ("1 + 2 == 3", true, true),
        ("insight.outcome == 'high'", true, true),
        ("attributes.payee == 'somebody'", true, true),
        ("attributes.payee == 'somebody with a long name'", true, false),
        ("[1, 2, 3].all(x, x > 0)", true, false),
        ("[1, 2, 3].map(x, [4, 5].map(y, x * y))", true, false),
        ("l.all(x, x > 0)", false, false),
        ("x.all(y, y)", false, false),
        ("s + s", false, false),
        ("s.startsWith('abc')", false, false),
        ("s.size() > 3", false, false),
        ("lists.range(100).size()", true, false),
        ("lists.range(int(attributes.amount)).size()", false, false),
        ("m.k == 1", true, true),
        ("attributes == x", false, false),
    ]

    @Test(arguments: rows)
    func boundsAreThereWhereSizesAreKnown(_ row: Row) throws {
        let estimate = try program(row.expression, in: environment()).costEstimate()
        #expect((estimate.maximum != nil) == row.isBounded, "\(row.expression): \(estimate)")
        #expect((estimate.maximum == estimate.minimum) == row.isExact, "\(row.expression)")
    }

    @Test func hintsGiveBounds() throws {
        let loop = try program("l.exists(x, x in [1, 2]) && s.contains('a')", in: environment())
        let hints: [String: SizeHint] = [
            "l": .collection(count: 10, of: .scalar), "s": .text(bytes: 64),
        ]
        let small = try #require(loop.costEstimate(sizes: hints).maximum)
        let large = try #require(
            loop.costEstimate(
                sizes: hints.merging(["l": .collection(count: 1_000, of: .scalar)]) { $1 }
            ).maximum)
        #expect(large > 50 * small && large < 100 * small)
    }

    /// Of a list literal one round is certain, and with it what stands in the round.
    @Test func whatIsCertainRaisesTheMinimum() throws {
        let environment = try environment()
        let outer = try program("[1, 2].all(x, x > 0)", in: environment).costEstimate()
        let inner = try program("[1, 2].all(x, [3].all(y, y > x))", in: environment).costEstimate()
        let unsure = try program(
            "f ? true : [1, 2].all(x, x > 0)".replacing("f", with: "attributes.newPayee"),
            in: environment
        ).costEstimate()
        #expect(inner.minimum > outer.minimum + 5)
        #expect(unsure.minimum < outer.minimum + 6)
    }

    /// A computed variable is paid for once, however often it is read.
    @Test func computedVariablesCountOnce() throws {
        var environment = try environment()
        let long = Array(repeating: "attributes.amount", count: 40).joined(separator: " + ")
        let sum = try program(long, in: environment)
        try environment.declare("variables.sum", computedBy: sum)
        let once = try program("variables.sum > 1.0", in: environment).costEstimate()
        let twice = try program("variables.sum > 1.0 && variables.sum > 2.0", in: environment)
            .costEstimate()
        #expect(try #require(twice.maximum) - (try #require(once.maximum)) < 10)
        #expect(once.minimum < 10 && once.maximum ?? 0 > 40)
    }

    /// Deep nests and values that share their parts are estimated in little time.
    @Test func nestsAreEstimated() throws {
        var nest = "[1, 1]"
        for _ in 0..<150 { nest = "cel.bind(x, \(nest), [x, x])" }
        #expect(try program(nest, in: Environment()).costEstimate().minimum > 0)
        var chain = "[1]"
        for _ in 0..<300 { chain += ".map(x, [x])" }
        #expect(try program(chain, in: Environment()).costEstimate().minimum > 0)
    }

    /// The cost of every evaluation lies in the estimate, with hints that are as tight as can be.
    @Test func generatedExpressionsCostWhatIsEstimated() throws {
        var evaluated = 0
        var bounded = 0
        for seed in 1...UInt64(max(1, DifferentialTests.count / 50)) {
            var world = try GeneratedWorld(seed: seed &+ 500_000)
            var hints: [String: SizeHint] = [:]
            for (slot, value) in world.values {
                hints[world.strict.slots[slot].path] = Self.hint(value)
            }
            var activation = Activation(world.strict)
            for round in 0..<50 {
                let kind = world.generator.one(of: ExpressionGenerator.Kind.allCases)
                let source = world.generator.expression(kind, 5)
                let environment = round % 2 == 0 ? world.strict : world.lenient
                guard let program = environment.compile(source).program else { continue }
                let estimate = program.costEstimate(sizes: hints)
                world.fill(&activation)
                let result = program.evaluate(&activation)
                if result.error?.code == .costLimit { continue }
                evaluated += 1
                bounded += estimate.maximum == nil ? 0 : 1
                #expect(
                    estimate.minimum <= result.cost && result.cost <= estimate.maximum ?? .max,
                    "seed \(seed): \(source) cost \(result.cost), not \(estimate)")
            }
        }
        #expect(evaluated > DifferentialTests.count / 2)
        #expect(bounded > evaluated / 2, "\(bounded) of \(evaluated)")
    }

    /// Nil for a list of texts and collections, for which there is no hint.
    private static func hint(_ value: Value) -> SizeHint? {
        switch value {
        case .string(let text): .text(bytes: text.utf8.count)
        case .bytes(let bytes): .text(bytes: bytes.count)
        case .list(let elements): collection(elements.count, elements)
        case .map(let map):
            collection(map.entries.count, map.entries.flatMap { [$0.key, $0.value] })
        case .optional(let wrapped): collection(1, wrapped.map { [$0] } ?? [])
        default: .scalar
        }
    }

    private static func collection(_ count: Int, _ members: [Value]) -> SizeHint? {
        var widest = SizeHint.scalar
        for member in members {
            guard let hint = hint(member), let wider = wider(widest, hint) else { return nil }
            widest = wider
        }
        return .collection(count: count, of: widest)
    }

    private static func wider(_ left: SizeHint, _ right: SizeHint) -> SizeHint? {
        switch (left, right) {
        case (.scalar, let other), (let other, .scalar): other
        case (.text(let l), .text(let r)): .text(bytes: max(l, r))
        case (.collection(let l, let inner), .collection(let r, let other)):
            wider(inner, other).map { .collection(count: max(l, r), of: $0) }
        default: nil
        }
    }
}

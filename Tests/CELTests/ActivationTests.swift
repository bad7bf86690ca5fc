import CEL
import Synchronization
import Testing

@Suite("Slots, absent values, computed variables")
struct ActivationTests {
    let environment: Environment

    init() throws { environment = try Environment.payment() }

    private func slot(_ path: String) throws -> Int { try #require(environment.slot(path)) }

    @Test func objectsBecomeSlots() {
        #expect(
            environment.slots.map(\.path) == [
                "attributes.amount", "attributes.newPayee", "attributes.accountAgeDays",
                "attributes.payee", "insight.outcome", "insight.score", "now",
            ])
        #expect(environment.slots[4].values == ["unknown", "medium", "high"])
        #expect(environment.slots[2].isOptional && !environment.slots[0].isOptional)
    }

    @Test func absentSlotsAreNamed() throws {
        var activation = Activation(environment)
        let age = try program("attributes.accountAgeDays < 30", in: environment)
        let error = try #require(age.evaluate(&activation).error)
        #expect(error.code == .missing)
        #expect(error.missing == ["attributes.accountAgeDays"])
        #expect(error.range == 0..<25)
        let both = try program(
            "attributes.accountAgeDays < 30 && attributes.payee == 'x' || attributes.accountAgeDays > 9",
            in: environment)
        #expect(
            both.evaluate(&activation).error?.missing
                == ["attributes.accountAgeDays", "attributes.payee"])
        let guarded = try program(
            "has(attributes.accountAgeDays) && attributes.accountAgeDays < 30", in: environment)
        #expect(guarded.evaluate(&activation).value == .bool(false))
        activation.set(try slot("attributes.accountAgeDays"), 5 as Int64)
        #expect(guarded.evaluate(&activation).value == .bool(true))
        activation.reset()
        #expect(guarded.evaluate(&activation).value == .bool(false))
    }

    @Test func conditionsWithoutValues() throws {
        let rule = try program(
            "insight.outcome == 'high' && attributes.amount >= 500.0 && attributes.newPayee",
            in: environment)
        var activation = Activation(environment)
        activation.set(try slot("insight.outcome"), "high")
        activation.set(try slot("attributes.amount"), 900.0)
        guard case .failed(let error) = rule.evaluateCondition(&activation) else {
            Issue.record("expected a failure")
            return
        }
        #expect(error.missing == ["attributes.newPayee"])
        activation.set(try slot("attributes.newPayee"), true)
        guard case .matched = rule.evaluateCondition(&activation) else {
            Issue.record("expected a match")
            return
        }
    }

    @Test func computedVariablesRunOnce() throws {
        var environment = environment
        let calls = Counter()
        environment.declare(
            Function(
                name: "count",
                overloads: [.init(id: "count_double", parameters: [.double], result: .double)]
            ) { arguments in
                calls.add()
                return .success(arguments[0])
            })
        let large = try program("count(attributes.amount) >= 500.0", in: environment)
        try environment.declare("variables.large", computedBy: large)
        let text = try program("variables.large ? 'large' : 'small'", in: environment)
        try environment.declare("variables.text", computedBy: text)
        let rule = try program(
            "variables.text + variables.text + string(variables.large)", in: environment)
        var activation = Activation(environment)
        activation.set(0, 900.0)
        #expect(rule.evaluate(&activation).value == .string("largelargetrue"))
        #expect(rule.evaluate(&activation).value == .string("largelargetrue"))
        #expect(calls.count == 1)
        activation.set(0, 1.0)
        #expect(rule.evaluate(&activation).value == .string("smallsmallfalse"))
        #expect(calls.count == 2)
        // Both operands of one step.
        let twice = try program("variables.large == variables.large", in: environment)
        activation.set(0, 2.0)
        #expect(twice.evaluate(&activation).value == .bool(true))
        #expect(calls.count == 3)
        activation.clear(0)
        let error = try #require(rule.evaluate(&activation).error)
        #expect(error.missing == ["attributes.amount"])
        // The place is where the rule reads the variable, not a place in another text.
        #expect(rule.ast.source[error.range].elementsEqual("variables.text".utf8))
    }

    /// A computed variable can be what `all` and its kin test, and be read there for the first time.
    @Test(arguments: ["all", "exists", "exists_one", "filter"])
    func macrosTestComputedVariables(macro: String) throws {
        var environment = environment
        let large = try program("attributes.amount >= 500.0", in: environment)
        try environment.declare("variables.large", computedBy: large)
        let rule = try program(
            "[1].\(macro)(x, variables.large) == dyn(RESULT)"
                .replacing("RESULT", with: macro == "filter" ? "[1]" : "true"), in: environment)
        var activation = Activation(environment)
        activation.set(0, 900.0)
        #expect(rule.evaluate(&activation).value == .bool(true))
    }

    /// Programs compiled before further variables were declared run on the later activation.
    @Test func earlierProgramsShareTheActivation() throws {
        var environment = environment
        let early = try program("attributes.amount + 1.0", in: environment)
        for index in 0..<50 { try environment.declare("more.v\(index)", .int) }
        var activation = Activation(environment)
        activation.set(0, 2.0)
        activation.set(try #require(environment.slot("more.v49")), 7 as Int64)
        #expect(early.evaluate(&activation).value == .double(3))
        #expect(try program("more.v49", in: environment).evaluate(&activation).value == .int(7))
    }

    @Test func activationsOfAnotherEnvironmentAreRefused() throws {
        let reads = try program("attributes.amount > 1.0 || has(attributes.payee)", in: environment)
        var other = Activation(Environment())
        #expect(reads.evaluate(&other).error?.code == .undeclared)
        // What reads no slot runs anywhere.
        #expect(try program("1 + 1", in: environment).evaluate(&other).value == .int(2))
        // A computed variable that was made for a larger environment.
        var small = Environment()
        try small.declare("late", computedBy: reads)
        var activation = Activation(small)
        #expect(try program("late", in: small).evaluate(&activation).error?.code == .undeclared)
    }

    @Test func memoryIsGivenBack() throws {
        var environment = environment
        try environment.declare(
            "variables.text", computedBy: try program("string(attributes.amount)", in: environment))
        let rule = try program(
            "(variables.text + '!').size() + [1, 2, 3].map(x, x * 2).size() > 2", in: environment)
        var activation = Activation(environment)
        func round() {
            activation.reset()
            activation.set(0, 2.5)
            activation.set(3, "somebody with a long name")
            for _ in 0..<3 { _ = rule.evaluateCondition(&activation) }
        }
        round()
        let first = activation.memoryInUse
        #expect(first > 0)
        for _ in 0..<500 { round() }
        #expect(activation.memoryInUse == first)
        activation.reset()
        #expect(activation.memoryInUse == 0)
    }

    @Test func partsAndUse() throws {
        let rule = try program(
            "insight.outcome == 'high' && (attributes.amount > 5.0 || has(attributes.payee)) && [1].all(x, x > 0)",
            in: environment)
        let conjuncts = rule.ast.conjuncts(of: rule.root)
        #expect(conjuncts.map { rule.ast.text(of: $0) }.first == "insight.outcome == 'high'")
        #expect(conjuncts.count == 3)
        let use = rule.ast.slotUse(below: conjuncts[1])
        #expect(use.read == [0] && use.tested == [3])
        let part = try #require(rule.part(conjuncts[1]))
        var activation = Activation(environment)
        activation.set(0, 9.0)
        #expect(part.evaluate(&activation).value == .bool(true))
        // `x > 0` alone has no meaning.
        guard case .comprehension(let loop) = rule.ast[conjuncts[2]].kind else {
            Issue.record("no macro")
            return
        }
        #expect(rule.part(loop.body) == nil)
    }

    @Test func wholeObjectsAreMaps() throws {
        let whole = try program("attributes", in: environment)
        var activation = Activation(environment)
        activation.set(0, 9.0)
        activation.set(3, "bob")
        let expected = Value.map(
            ValueMap([
                .init(key: .string("amount"), value: .double(9)),
                .init(key: .string("payee"), value: .string("bob")),
            ]))
        #expect(whole.evaluate(&activation).value == expected)
    }

    @Test func declarations() throws {
        var environment = environment
        #expect(throws: Environment.DeclarationError.duplicate("now")) {
            try environment.declare("now", .int)
        }
        #expect(throws: Environment.DeclarationError.invalidName("a b")) {
            try environment.declare("a b", .int)
        }
        #expect(throws: Environment.DeclarationError.invalidName("a..b")) {
            try environment.declare("a..b", .int)
        }
    }

    @Test func tracesShowEveryNode() throws {
        let rule = try program("attributes.amount > 5.0 && attributes.newPayee", in: environment)
        var activation = Activation(environment)
        activation.set(0, 9.0)
        activation.set(1, false)
        let seen = rule.traced().evaluate(&activation).trace.map { rule.ast.text(of: $0.node) }
        #expect(seen.contains("attributes.amount > 5.0") && seen.contains("attributes.newPayee"))
        activation.set(0, 1.0)
        let short = rule.traced().evaluate(&activation).trace.map { rule.ast.text(of: $0.node) }
        #expect(!short.contains("attributes.newPayee"))
    }
}

/// Counts calls of a host function; tests run it on one thread at a time, but it is shared.
final class Counter: Sendable {
    private let storage = Mutex(0)
    var count: Int { storage.withLock { $0 } }
    func add() { storage.withLock { $0 += 1 } }
}

import CEL
import Foundation
import Testing

/// An environment and values for its slots, made from a seed.
struct GeneratedWorld {
    var strict = Environment()
    var lenient = Environment()
    var values: [Int: Value] = [:]
    var generator: ExpressionGenerator

    init(seed: UInt64) throws {
        generator = ExpressionGenerator(seed: seed)
        let user = ObjectType(
            name: "user", fields: [.init("age", .int, isOptional: true), .init("name", .string)])
        let request = ObjectType(
            name: "req", fields: [.init("user", .object(user)), .init("flag", .bool)])
        try strict.declare("req", .object(request))
        for (name, type) in [
            ("a", Type.dyn), ("b", .dyn), ("c", .dyn), ("i", .int), ("j", .int), ("u", .uint),
            ("d", .double), ("s", .string), ("f", .bool), ("l", .list(.int)),
            ("m", .map(.string, .dyn)), ("t", .timestamp), ("o", .optional(.dyn)),
        ] { try strict.declare(name, type) }
        generator.isCareless = false
        for (index, kind) in [ExpressionGenerator.Kind.bool, .int, .string, .ints].enumerated() {
            // Some cannot be computed; each may read those before it.
            guard let program = strict.compile(generator.expression(kind, 3)).program else {
                continue
            }
            try strict.declare("v.x\(index)", computedBy: program)
            generator.computed.append(("v.x\(index)", kind))
        }
        generator.isCareless = true
        lenient = strict
        lenient.checking = .lenient
        for (slot, declared) in strict.slots.enumerated()
        where declared.program == nil && !generator.chance(15) {
            values[slot] = value(declared.type, 2)
        }
    }

    private mutating func value(_ type: Type, _ depth: Int) -> Value {
        switch type {
        case .bool: return .bool(generator.chance(50))
        case .int: return .int(generator.one(of: [0, 1, 2, -1, .max, .min, 9_007_199_254_740_993]))
        case .uint: return .uint(generator.one(of: [0, 1, .max, 1 << 63]))
        case .double:
            return .double(generator.one(of: [0, -0.0, 1, 0.5, 1.5, .nan, .infinity, 0x1p63]))
        case .string: return .string(generator.one(of: ["", "a", "ab", "é", "k", "1"]))
        case .list:
            let count = generator.one(of: [0, 1, 3, 12])
            return .list((0..<count).map { _ in value(.int, 0) })
        case .timestamp:
            return .timestamp(Timestamp(seconds: 1, nanoseconds: 5) ?? .init(seconds: 0)!)
        case .optional: return .optional(generator.chance(50) ? value(.dyn, depth - 1) : nil)
        case .map: return map(depth)
        default:
            if depth > 0, generator.chance(50) { return map(depth) }
            if depth > 0, generator.chance(30) {
                return .list((0..<generator.below(3)).map { _ in value(.dyn, depth - 1) })
            }
            return generator.chance(10)
                ? .null : value(generator.one(of: [.bool, .int, .uint, .double, .string]), 0)
        }
    }

    private mutating func map(_ depth: Int) -> Value {
        var names = ["k", "n", "zz"].filter { _ in generator.chance(60) }
        // More than are searched one by one.
        if generator.chance(20) { names += (0..<12).map { "e\($0)" } }
        return .map(ValueMap(names.map { .init(key: .string($0), value: value(.dyn, depth - 1)) }))
    }

    func fill(_ activation: inout Activation) {
        activation.reset()
        for (slot, value) in values { activation.set(slot, value) }
    }
}

@Suite("The flat program against a walk of the tree")
struct DifferentialTests {
    static let count =
        ProcessInfo.processInfo.environment["DISCERN_EXPRESSIONS"].flatMap { Int($0) } ?? 4_000
    static let firstSeed =
        ProcessInfo.processInfo.environment["DISCERN_EXPRESSION_SEED"].flatMap { UInt64($0) }

    /// How the expressions of a run fared.
    struct Tally {
        var compared = 0, values = 0, unsupported = 0, givenUp = 0, strict = 0
    }

    @Test func generatedExpressionsAgree() throws {
        var tally = Tally()
        let first = Self.firstSeed ?? 1
        for seed in first..<first + UInt64(max(1, Self.count / 50)) {
            var world = try GeneratedWorld(seed: seed)
            var activation = Activation(world.strict)
            for round in 0..<50 {
                let kind = world.generator.one(of: ExpressionGenerator.Kind.allCases)
                let source = world.generator.expression(round % 3 == 0 ? .bool : kind, 5)
                try compare(source, world, &activation, seed, &tally)
            }
        }
        // Of what is compared most must say something.
        #expect(tally.compared > Self.count / 2, "\(tally)")
        #expect(tally.values > tally.compared / 4, "\(tally)")
        #expect(tally.strict > Self.count / 4, "\(tally)")
        #expect(tally.unsupported < Self.count / 10, "\(tally)")
    }

    private func compare(
        _ source: String, _ world: GeneratedWorld, _ activation: inout Activation, _ seed: UInt64,
        _ tally: inout Tally
    ) throws {
        let typed = world.strict.compile(source).program
        tally.strict += typed == nil ? 0 : 1
        let untyped = world.lenient.compile(source)
        // A regular expression that is wrong is refused in either.
        guard let program = untyped.program else {
            #expect(untyped.diagnostics.allSatisfy { $0.code.hasPrefix("cel.") }, "\(source)")
            return
        }
        let expected: ReferenceEvaluator.Answer
        do {
            expected = try ReferenceEvaluator(
                program, environment: world.strict, values: world.values
            ).evaluate()
        } catch is ReferenceEvaluator.Unsupported {
            tally.unsupported += 1
            return
        }
        tally.compared += 1
        if case .success = expected { tally.values += 1 }
        for (form, program) in [
            ("lenient", program), ("strict", typed), ("traced", program.traced()),
            ("traced strict", typed?.traced()),
        ] {
            guard let program else { continue }
            world.fill(&activation)
            for pass in ["", ", again"] {
                let result = program.evaluate(&activation, costLimit: 200_000)
                if isGivenUp(result) { break }
                #expect(
                    agree(result, expected),
                    "seed \(seed), \(form)\(pass): \(source)\n\(result.outcome)\nreference: \(expected)\nvalues: \(world.values.map { (world.strict.slots[$0].path, $1) })\ncomputed: \(world.strict.slots.compactMap { slot in slot.program.map { "\(slot.path): \($0.source)" } })"
                )
            }
            expect(condition: program.evaluateCondition(&activation), expected, source, seed)
        }
    }

    private func isGivenUp(_ result: EvaluationResult) -> Bool {
        result.error?.code == .costLimit || result.error?.code == .sizeLimit
    }

    private func agree(_ result: EvaluationResult, _ expected: ReferenceEvaluator.Answer) -> Bool {
        switch (result.outcome, expected) {
        case (.success(let value), .success(let other)): value.isIdentical(to: other)
        case (.failure(let error), .failure(let other)):
            error.code == other.code && error.missing == other.missing
        default: false
        }
    }

    private func expect(
        condition: ConditionResult, _ expected: ReferenceEvaluator.Answer, _ source: String,
        _ seed: UInt64
    ) {
        let holds =
            switch (condition, expected) {
            case (.matched, .success(.bool(true))), (.notMatched, .success(.bool(false))): true
            case (.failed(let error), .failure(let other)):
                error.code == other.code || error.code == .costLimit || error.code == .sizeLimit
            case (.failed, .success(.bool)): false
            case (.failed(let error), .success): error.code == .notBool || error.code == .sizeLimit
            default: false
            }
        #expect(holds, "seed \(seed), as a condition: \(source)")
    }
}

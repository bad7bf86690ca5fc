import CEL
import JSON
import Policies

/// The first line is an expression, the next two are JSON texts for the variables `a` and `b`.
/// Compiled and evaluated in every form; all must agree, cost no more than the limit, and leave the
/// activation as they found it.
final class EvaluateTarget: FuzzTarget {
    private let environment = Environment.fuzz()
    private let text: Int
    private var activation: Activation
    private static let costLimit = 20_000

    init() {
        activation = Activation(environment)
        guard let slot = environment.slot("s") else { fail("no variable `s`") }
        text = slot
    }

    func run(_ input: [UInt8]) {
        let lines = input.split(
            separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        let compiled = environment.compile(utf8: Array(lines[0]))
        guard let program = compiled.program else { return }
        activation.reset()
        setTyped(missing: lines[0].count % 3 == 0)
        for (name, line) in zip(["a", "b"], lines.dropFirst()) {
            guard let slot = environment.slot(name) else { continue }
            if let value = Self.value(Array(line)) { activation.set(slot, value) }
        }
        // What computed variables keep is made now, so that the rest can be compared.
        let first = program.evaluate(&activation, costLimit: Self.costLimit)
        examine(first)
        let used = activation.memoryInUse
        let second = program.evaluate(&activation, costLimit: Self.costLimit)
        agree(first, second, "evaluated again")
        expect(activation.memoryInUse == used || isGivenUp(first), "memory was not given back")
        agree(first, program.traced().evaluate(&activation, costLimit: 1_000_000), "traced")
        condition(program, first)
        parts(of: program)
        activation.reset()
        expect(activation.memoryInUse == 0, "a reset left memory in use")
    }

    private func examine(_ result: EvaluationResult) {
        expect(
            result.cost <= Self.costLimit || isGivenUp(result),
            "it cost \(result.cost) and gave a value")
        switch result.outcome {
        case .success(let value): expect(!JSONText.bytes(value).isEmpty, "no text of a value")
        case .failure(let error):
            expect(!error.message.isEmpty, "an error without a message")
            expect((error.code == .missing) == !error.missing.isEmpty, "what is missing has a name")
        }
    }

    /// The same value or the same error, unless one of them was given up for its cost or size.
    private func agree(_ left: EvaluationResult, _ right: EvaluationResult, _ what: String) {
        if isGivenUp(left) || isGivenUp(right) { return }
        switch (left.outcome, right.outcome) {
        case (.success(let l), .success(let r)):
            expect(JSONText.bytes(l) == JSONText.bytes(r), "\(what): \(l) and \(r)")
        case (.failure(let l), .failure(let r)): expect(l == r, "\(what): \(l) and \(r)")
        default: fail("\(what): \(left.outcome) and \(right.outcome)")
        }
    }

    private func isGivenUp(_ result: EvaluationResult) -> Bool {
        result.error?.code == .costLimit || result.error?.code == .sizeLimit
    }

    private func condition(_ program: Program, _ result: EvaluationResult) {
        if isGivenUp(result) { return }
        switch (program.evaluateCondition(&activation, costLimit: Self.costLimit), result.outcome) {
        case (.matched, .success(.bool(true))), (.notMatched, .success(.bool(false))): break
        case (.failed(let error), .failure(let other)):
            expect(error == other, "a condition: \(error) and \(other)")
        case (.failed(let error), .success):
            expect(
                error.code == .notBool || error.code == .sizeLimit, "a condition: \(error)")
        case (let other, let outcome): fail("a condition: \(other) and \(outcome)")
        }
    }

    private func parts(of program: Program) {
        for conjunct in program.ast.conjuncts(of: program.root).prefix(4) {
            guard let part = program.part(conjunct) else { continue }
            examine(part.evaluate(&activation, costLimit: Self.costLimit))
        }
    }

    // MARK: Inputs

    private func setTyped(missing: Bool) {
        let values: [String: Value] = [
            "account.name": .string("Ærøskøbing"), "account.kind": .string("person"),
            "account.limits.day": .double(250), "i": .int(3), "u": .uint(.max), "d": .double(-0.5),
            "s": .string("a,b,,c"), "y": .bytes([0, 255, 97]), "f": .bool(true),
            "l": .list([.int(1), .int(2), .int(.max)]), "p": .duration(.init(totalNanoseconds: 1)),
            "o": .optional(.string("x")),
            "m": .map(ValueMap([.init(key: .string("k"), value: .list([.null, .double(.nan)]))])),
        ]
        for (name, value) in values {
            if let slot = environment.slot(name) { activation.set(slot, value) }
        }
        if missing { activation.clear(text) }
    }

    private static func value(_ line: [UInt8]) -> Value? {
        guard let json = try? JSONReader.parse(line, limits: JSONLimits(bytes: 4096, depth: 40))
        else { return nil }
        return Value(json)
    }
}

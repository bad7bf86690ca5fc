import CEL
import Glibc

/// One expression, compiled, with its inputs bound.
struct Subject: ~Copyable {
    let form: Form
    let expression: Cases.Expression
    private let environment: Environment
    private let program: Program
    private var activation: Activation
    /// What to set before an evaluation: the slots and their values.
    private let bindings: [(slot: Int, value: Value)]

    init(form: Form, cases: Cases, expression: Cases.Expression) {
        self.form = form
        self.expression = expression
        var environment = Environment()
        var bindings: [(slot: Int, value: Value)] = []
        for (name, value) in cases.inputs {
            let type = form == .dyn ? .dyn : cases.type(of: value, name: name)
            guard (try? environment.declare(name, type)) != nil else {
                fail("\(name) cannot be declared")
            }
            for (path, leaf) in form == .dyn ? [(name, value)] : Self.leaves(value, below: name) {
                guard let slot = environment.slot(path) else { fail("no slot \(path)") }
                bindings.append((slot, leaf))
            }
        }
        let result = environment.compile(expression.text)
        guard let program = result.program else {
            fail("\(expression.name): \(result.diagnostics.map(\.message))")
        }
        self.environment = environment
        self.program = program
        self.bindings = bindings
        activation = Activation(environment)
        bind()
        guard activation.evaluates(program) == expression.wanted else {
            fail("\(expression.name), \(form): not \(expression.wanted)")
        }
    }

    /// The leaf fields with their paths.
    private static func leaves(_ value: Value, below path: String) -> [(String, Value)] {
        guard case .map(let map) = value else { return [(path, value)] }
        return map.entries.flatMap { entry -> [(String, Value)] in
            guard case .string(let key) = entry.key else { return [] }
            return leaves(entry.value, below: "\(path).\(key)")
        }
    }

    mutating func bind() {
        activation.reset()
        for (slot, value) in bindings { activation.set(slot, value) }
    }

    @inline(__always)
    mutating func evaluate() {
        guard activation.evaluates(program) == expression.wanted else {
            fail("\(expression.name), \(form): another result than before")
        }
    }

    /// Everything that is measured, as one line of JSON.
    mutating func measured() -> String {
        for _ in 0..<1000 { evaluate() }
        let before = Memory.now()
        for _ in 0..<1000 { evaluate() }
        let allocations = Memory.now().allocations - before.allocations
        let time = median { evaluate() }
        let bindTime = median(batches: 51) { bind() }
        let compileTime = median(batches: 51) { _ = environment.compile(expression.text) }
        let compiled = Memory.now()
        let kept = (0..<200).map { _ in environment.compile(expression.text) }
        let bytes = (Memory.now().live - compiled.live) / kept.count
        let counted = Memory.isCounted ? "\(Double(allocations) / 1000)" : "null"
        return #"{"name":"\#(expression.name)","form":"\#(form)","ns":\#(time),"#
            + #""bind":\#(bindTime),"compile":\#(compileTime),"allocations":\#(counted),"#
            + #""bytes":\#(Memory.isCounted ? "\(bytes)" : "null")}"#
    }
}

extension Activation {
    @inline(__always)
    fileprivate mutating func evaluates(_ program: Program) -> Bool? {
        switch program.evaluateCondition(&self) {
        case .matched: true
        case .notMatched: false
        case .failed: nil
        }
    }
}

/// What the counter of allocations says, if it was loaded before the program (see count.c).
enum Memory {
    typealias Counter = @convention(c) () -> Int

    private static let allocated = symbol("count_allocations")
    private static let inUse = symbol("count_live_bytes")

    static var isCounted: Bool { allocated != nil }

    static func now() -> (allocations: Int, live: Int) {
        (allocated?() ?? 0, inUse?() ?? 0)
    }

    private static func symbol(_ name: String) -> Counter? {
        dlsym(dlopen(nil, RTLD_NOW), name).map { unsafeBitCast($0, to: Counter.self) }
    }
}

func write(_ text: String, to file: Int32) { _ = Glibc.write(file, text, text.utf8.count) }

func fail(_ message: String) -> Never {
    write("cel-benchmark: \(message)\n", to: STDERR_FILENO)
    exit(1)
}

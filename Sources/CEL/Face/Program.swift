/// A compiled expression. Immutable; any number of threads may evaluate it, each with an
/// ``Activation`` of its own.
public struct Program: Sendable {
    /// Everything that does not change, in one object: copying a program is counting one reference.
    private final class Parts: Sendable {
        let ast: AST
        let environment: Environment

        init(ast: AST, environment: Environment) {
            self.ast = ast
            self.environment = environment
        }
    }

    private let parts: Parts
    let code: Code
    /// The node of the tree that this program evaluates; not the tree's root for a part of it.
    public let root: AST.NodeID

    init(ast: AST, root: AST.NodeID, code: Code, environment: Environment) {
        parts = Parts(ast: ast, environment: environment)
        self.root = root
        self.code = code
    }

    private init(parts: Parts, root: AST.NodeID, code: Code) {
        self.parts = parts
        self.root = root
        self.code = code
    }

    /// The checked tree, with types and references.
    public var ast: AST { parts.ast }

    /// What it was compiled against, for compiling parts and the traced form.
    var environment: Environment { parts.environment }

    /// The type of the result.
    public var resultType: Type { ast[root].type }

    /// The source text of the whole tree.
    public var source: String { String(decoding: ast.source, as: UTF8.self) }

    /// The slots that are read or tested, lazily computed ones by themselves.
    public var slotUse: AST.SlotUse { ast.slotUse(below: root) }

    /// A part of the expression as a program of its own, over the same slots; nil where the part
    /// reads a variable of a macro around it.
    public func part(_ node: AST.NodeID) -> Program? {
        var emitter = Emitter(ast: ast, environment: environment, traced: false)
        return emitter.emit(root: node).map { Program(parts: parts, root: node, code: $0) }
    }

    /// The same program made to record the value of every node it evaluates, for coverage and
    /// explanations. Slower; the results are the same.
    public func traced() -> Program {
        var emitter = Emitter(ast: ast, environment: environment, traced: true)
        guard let code = emitter.emit(root: root) else { return self }
        return Program(parts: parts, root: root, code: code)
    }

    /// Evaluates. The cost limit is that of the environment if none is given.
    public func evaluate(_ activation: inout Activation, costLimit: Int? = nil) -> EvaluationResult
    {
        activation.evaluate(self, costLimit: costLimit ?? code.limits.cost)
    }

    /// Evaluates a condition without making a `Value`: no memory is taken unless it fails.
    public func evaluateCondition(_ activation: inout Activation, costLimit: Int? = nil)
        -> ConditionResult
    {
        activation.evaluateCondition(self, costLimit: costLimit ?? code.limits.cost)
    }
}

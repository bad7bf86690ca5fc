public import Time

/// What an expression may refer to: variables, functions, a container, zones, limits.
///
/// Variables become numbered slots, in the order of declaration; an object variable becomes one
/// slot per leaf field. Programs compiled against an environment, or against a later version of it
/// with more variables, can share one ``Activation`` of the latest version.
public struct Environment: Sendable {
    /// A place for one value in an ``Activation``.
    public struct Slot: Sendable {
        /// The full name: `now`, `attributes.amount`.
        public let path: String
        /// The declared type.
        public let type: Type
        /// Whether the value may be absent, as its declaration says.
        public let isOptional: Bool
        /// For a string that acts as an enumeration: every value it can have.
        public let values: [String]?
        /// What computes the value when it is first read; nil where the host sets it.
        public let program: Program?
    }

    /// Why a variable could not be declared.
    public enum DeclarationError: Error, Sendable, Equatable {
        /// The name is no identifier, or no identifiers joined by dots.
        case invalidName(String)
        /// The name is taken by another variable, or names a field within one.
        case duplicate(String)
    }

    /// How strict expressions are checked.
    public enum Checking: Sendable {
        /// Undeclared names and ill-typed calls are errors of the compiler.
        case strict
        /// They are error values when evaluated. Only syntax is checked.
        case lenient
    }

    /// Names are looked up in this container first, then in its parents, then at the top.
    public var container = ""
    /// Short names that stand for full ones, such as `Timestamp` for `google.protobuf.Timestamp`.
    /// They go before everything else that the name could mean.
    public var abbreviations: [String: String] = [:]
    /// The extensions of CEL that expressions may use, each with the version of its functions;
    /// nil allows all. Optionals and `cel.bind` are part of the language here.
    public var extensions: [String: Int]?
    /// The limits that expressions compiled from now on obey.
    public var limits = Limits()
    /// Where the accessors of timestamps look zones up.
    public var zones: ZoneDatabase
    /// How strict expressions are checked.
    public var checking = Checking.strict
    /// Whether macros are expanded; if not they are calls of functions.
    public var expandsMacros = true
    /// All slots, in order of declaration.
    public private(set) var slots: [Slot] = []
    /// The functions of the host.
    public private(set) var functions: [Function] = []

    private(set) var slotOfPath: [String: Int] = [:]
    private(set) var objects: [String: ObjectType] = [:]
    /// Every proper prefix of a declared dotted name, for messages and duplicates.
    private(set) var prefixes: Set<String> = []

    /// An environment of the standard library alone.
    public init(zones: ZoneDatabase = .utc) { self.zones = zones }

    /// Declares a variable that the host sets. The name may have dots.
    /// Returns its slot, or for an object the slots of its leaf fields in order.
    @discardableResult
    public mutating func declare(_ name: String, _ type: Type) throws(DeclarationError)
        -> Range<Int>
    {
        try claim(name)
        let first = slots.count
        add(name, type, isOptional: false, values: nil)
        return first..<slots.count
    }

    /// Declares a variable that is computed by a program when it is first read, at most once
    /// per activation of the slots. The program must be compiled against this environment as it
    /// is now (or an earlier version of it), so that it can only read variables declared before.
    /// For fields of a common object declare `variables.large`, `variables.small` and so on.
    @discardableResult
    public mutating func declare(
        _ name: String, computedBy program: Program, values: [String]? = nil
    ) throws(DeclarationError) -> Int {
        try claim(name)
        slotOfPath[name] = slots.count
        slots.append(
            Slot(
                path: name, type: program.resultType, isOptional: false, values: values,
                program: program))
        return slots.count - 1
    }

    /// Declares a function. Declaring a name again adds overloads.
    public mutating func declare(_ function: Function) { functions.append(function) }

    /// Takes a name out of sight of expressions compiled from now on. Its slot stays, and so do
    /// programs that read it; the name may be declared again, for a scope within a scope.
    public mutating func hide(_ name: String) { slotOfPath[name] = nil }

    /// Brings a hidden name back to its slot; another slot of that name is then out of sight.
    public mutating func show(_ name: String, slot: Int) {
        guard slots.indices.contains(slot) else { return }
        slotOfPath[name] = slot
    }

    /// The slot of a full name such as `attributes.amount`.
    public func slot(_ path: String) -> Int? { slotOfPath[path] }

    /// The object type declared under a name, if it is one.
    public func object(_ path: String) -> ObjectType? { objects[path] }

    /// All full names of slots that a name stands for: itself or its leaf fields.
    func leaves(of path: String) -> [Int] {
        if let slot = slotOfPath[path] { return [slot] }
        return slots.indices.filter { slots[$0].path.hasPrefix(path + ".") }
    }

    private mutating func claim(_ name: String) throws(DeclarationError) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isIdentifier = { (part: Substring) -> Bool in
            guard let first = part.utf8.first, !(48...57).contains(first) else { return false }
            return part.utf8.allSatisfy(Lexer.isIdentifierByte)
        }
        guard parts.allSatisfy(isIdentifier) else { throw .invalidName(name) }
        guard slotOfPath[name] == nil, objects[name] == nil else { throw .duplicate(name) }
        for count in 1..<max(parts.count, 1) {
            prefixes.insert(parts[..<count].joined(separator: "."))
        }
    }

    private mutating func add(_ path: String, _ type: Type, isOptional: Bool, values: [String]?) {
        guard case .object(let object) = type else {
            slotOfPath[path] = slots.count
            slots.append(
                Slot(path: path, type: type, isOptional: isOptional, values: values, program: nil))
            return
        }
        objects[path] = object
        for field in object.fields {
            add(
                path + "." + field.name, field.type, isOptional: isOptional || field.isOptional,
                values: field.values)
        }
    }
}

/// What compiling an expression gave.
public struct CompileResult: Sendable {
    /// The program; nil where a diagnostic is an error.
    public var program: Program?
    /// What was found, in order of place.
    public var diagnostics: [Diagnostic]
    /// The tree as far as it was understood.
    public var ast: AST
}

extension Environment {
    /// Compiles an expression.
    public func compile(_ source: String) -> CompileResult { compile(utf8: Array(source.utf8)) }

    /// Compiles an expression given as bytes; they need not be valid UTF-8.
    public func compile(utf8 source: [UInt8]) -> CompileResult {
        var parser = Parser(source: source, environment: self)
        var ast = parser.parse()
        var diagnostics = parser.diagnostics
        guard diagnostics.isEmpty else {
            return CompileResult(program: nil, diagnostics: diagnostics, ast: ast)
        }
        var checker = Checker(ast: ast, environment: self)
        checker.check()
        ast = checker.ast
        diagnostics = checker.diagnostics.sorted { $0.place < $1.place }
        guard !diagnostics.contains(where: { $0.severity == .error }) else {
            return CompileResult(program: nil, diagnostics: diagnostics, ast: ast)
        }
        var emitter = Emitter(ast: ast, environment: self, traced: false)
        let code = emitter.emit(root: ast.root)
        diagnostics += emitter.diagnostics
        if diagnostics.count > limits.diagnostics {
            let errors = diagnostics.filter { $0.severity == .error }
            let warnings = diagnostics.filter { $0.severity == .warning }
            diagnostics = Array((errors + warnings).prefix(limits.diagnostics))
        }
        let failed = diagnostics.contains { $0.severity == .error }
        return CompileResult(
            program: failed
                ? nil : code.map { Program(ast: ast, root: ast.root, code: $0, environment: self) },
            diagnostics: diagnostics, ast: ast)
    }
}

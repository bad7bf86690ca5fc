import CEL
import JSON
import Policies

/// A condition on entries: a CEL expression over ``AuditVariable``.
///
/// An entry matches if the condition gives true. One for which it gives an error, as where a value
/// is absent, does not match and is counted as undecided.
public struct AuditFilter: Sendable {
    /// The text as it was given.
    public let source: String
    let program: Program

    /// A longer text is no filter. A URL holds no more of it either.
    public static let sourceBytes = 4 << 10
    /// What a filter may cost for one entry, in the unit of CEL's limits.
    static let cost = 20_000

    /// What filters are compiled against.
    static let language: Environment = {
        var environment = Environment()
        environment.limits.sourceBytes = sourceBytes
        environment.limits.nodes = 2_000
        environment.limits.nesting = 60
        environment.limits.treeDepth = 350
        environment.limits.cost = cost
        environment.limits.memory = 1 << 20
        environment.limits.stringBytes = 256 << 10
        environment.limits.regexes = 16
        environment.limits.regexBytes = 512
        for variable in AuditVariable.allCases {
            // The names are identifiers, and each occurs once.
            _ = try? environment.declare(variable.rawValue, variable.type)
        }
        return environment
    }()

    /// Compiles a filter. Throws what is wrong with it, and where.
    public init(_ source: String) throws(AuditFilterError) {
        let result = Self.language.compile(source)
        var diagnostics = result.diagnostics.filter { $0.severity == .error }
        if diagnostics.isEmpty {
            let root = result.ast[result.ast.root]
            switch root.type {
            case .bool, .dyn: break
            default:
                diagnostics.append(
                    Diagnostic(
                        range: root.range, code: "filter.notBool",
                        message: "a filter is true or false, and this is \(root.type)",
                        help: "compare it with something"))
            }
            diagnostics += FilterValues(ast: result.ast).diagnostics
        }
        guard diagnostics.isEmpty, let program = result.program else {
            throw AuditFilterError(source: source, diagnostics: diagnostics)
        }
        self.source = source
        self.program = program
    }
}

/// Why a filter cannot be used.
public struct AuditFilterError: Error, Sendable, CustomStringConvertible {
    /// The text as it was given.
    public var source: String
    /// What is wrong with it: never empty.
    public var diagnostics: [Diagnostic]

    /// Each finding with its line, a caret below the place, and help.
    public var description: String {
        let text = SourceText(Array(source.utf8), name: "filter")
        return diagnostics.prefix(10).map { text.render($0) }.joined()
    }

    /// The first finding alone, without its place.
    public var message: String { diagnostics.first?.message ?? "" }

    /// The findings for programs: place, code, message and help of each.
    public var findings: JSONValue {
        let text = SourceText(Array(source.utf8), name: "filter")
        return .array(
            diagnostics.prefix(10).map { finding in
                let position = text.position(of: finding.place)
                var object: JSONObject = [
                    "line": .int(Int64(position.line)), "column": .int(Int64(position.column)),
                    "code": .string(finding.code), "message": .string(finding.message),
                ]
                object["help"] = finding.help.map { .string($0) }
                return .object(object)
            })
    }

    /// A filter that asks too much of an entry.
    static func costs(_ source: String, _ error: EvaluationError, sequence: Int64)
        -> AuditFilterError
    {
        AuditFilterError(
            source: source,
            diagnostics: [
                Diagnostic(
                    range: error.range, code: "filter.cost",
                    message: "it costs too much at entry \(sequence): \(error.message)",
                    help: "put what is cheap and rarely true before it, joined by `&&`")
            ])
    }
}

/// Finds comparisons with what a variable of a closed set is never equal to: a slip that would
/// silently find nothing.
private struct FilterValues {
    let ast: AST

    var diagnostics: [Diagnostic] {
        ast.nodes.indices.flatMap { index -> [Diagnostic] in
            guard case .call(let function, nil, let arguments) = ast.nodes[index].kind,
                arguments.count == 2
            else { return [] }
            switch function {
            case "_==_", "_!=_":
                return check(arguments[0], [arguments[1]]) + check(arguments[1], [arguments[0]])
            case "@in":
                guard case .list(let elements, _) = ast[arguments[1]].kind else { return [] }
                return check(arguments[0], elements)
            default: return []
            }
        }
    }

    private func check(_ variable: AST.NodeID, _ others: [AST.NodeID]) -> [Diagnostic] {
        guard case .slot(let slot)? = ast[variable].reference,
            case .identifier = ast[variable].kind,
            AuditVariable.allCases.indices.contains(slot)
        else { return [] }
        let name = AuditVariable.allCases[slot]
        guard let values = name.values else { return [] }
        return others.compactMap { other in
            guard case .literal(.string(let text)) = ast[other].kind, !values.contains(text) else {
                return nil
            }
            return Diagnostic(
                range: ast[other].range, code: "filter.value",
                message: "`\(name.rawValue)` is never \(ast.text(of: other))",
                help: NearestName.help(text, among: values.filter { !$0.isEmpty }, what: "values"))
        }
    }
}

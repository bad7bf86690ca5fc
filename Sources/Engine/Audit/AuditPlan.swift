import CEL
import Time

/// How a query is answered: what a store looks up, and what is evaluated of the entries it finds.
public struct AuditPlan: Sendable {
    /// Where entries can lie: for the store.
    public let bounds: AuditBounds
    /// The conjuncts that ``bounds`` stand for wholly, as they are written.
    public let pushed: [String]
    /// The conjuncts that are evaluated for each entry, in the order of their evaluation.
    public let streamed: [String]
    /// What these read.
    public let reads: [AuditVariable]
    /// Evaluated without the payload, and with it.
    let early: [Program]
    let late: [Program]
    let source: String
    let now: Instant
    let members: AuditMembers

    /// Whether the payload has to be read to decide.
    public var needsPayload: Bool { !late.isEmpty }
    /// Whether the envelope has to be read to decide.
    public var needsEnvelope: Bool { reads.contains(.actor) }

    /// The plan of a query.
    public init(_ query: EntryQuery) {
        var bounds = AuditBounds()
        if let app = query.app { bounds.apps = [app] }
        if let environment = query.environment { bounds.environments = [environment] }
        if let kind = query.kind { bounds.kinds = [kind] }
        bounds.since = query.since ?? .min
        bounds.until = query.until ?? .max
        now = query.now
        source = query.filter?.source ?? ""
        var pushed: [String] = []
        var early: [Program] = []
        var late: [Program] = []
        var read = AuditVariables()
        var streamed: [(node: AST.NodeID, isLate: Bool)] = []
        if let program = query.filter?.program {
            let ast = program.ast
            let conjuncts = ast.conjuncts(of: program.root)
            var finder = BoundsFinder(program, now: query.now)
            for conjunct in conjuncts {
                let found = finder.find(conjunct)
                bounds = bounds.meeting(found.bounds)
                guard !found.isExact, let part = program.part(conjunct) else {
                    pushed.append(ast.text(of: conjunct))
                    continue
                }
                let use = part.slotUse
                let variables = AuditVariables(slots: use.read.union(use.tested))
                read.formUnion(variables)
                let isLate = variables.all.contains(where: \.isOfPayload)
                if isLate { late.append(part) } else { early.append(part) }
                streamed.append((conjunct, isLate))
            }
            members = AuditMembers(ast: ast, nodes: streamed.map(\.node), read)
            let ordered = streamed.filter { !$0.isLate } + streamed.filter(\.isLate)
            self.streamed = ordered.map { ast.text(of: $0.node) }
        } else {
            members = AuditMembers()
            self.streamed = []
        }
        self.bounds = bounds.settled()
        self.pushed = pushed
        self.early = early
        self.late = late
        reads = read.all
    }
}

/// Which members of payloads are read.
struct AuditMembers: Sendable {
    private(set) var variables = AuditVariables()
    /// The attributes that are read, by name; `nil` if it has to be all of them.
    private(set) var attributes: Set<String>? = []

    init() {}

    /// All members, but for attributes.
    static var all: AuditMembers {
        var members = AuditMembers()
        let others = AuditVariable.allCases.filter { $0 != .attributes }
        members.variables = AuditVariables(slots: others.map(\.slot))
        return members
    }

    init(ast: AST, nodes: [AST.NodeID], _ variables: AuditVariables) {
        self.variables = variables
        guard variables.contains(.attributes) else { return }
        var pending = nodes
        while let next = pending.popLast() {
            switch ast[next].kind {
            case .select(let operand, let name, _), .presence(let operand, let name):
                if ast[operand].reference == .slot(AuditVariable.attributes.slot) {
                    attributes?.insert(name)
                } else {
                    pending.append(operand)
                }
            case .identifier where ast[next].reference == .slot(AuditVariable.attributes.slot):
                attributes = nil
                return
            default: pending.append(contentsOf: ast.children(of: next))
            }
        }
    }
}

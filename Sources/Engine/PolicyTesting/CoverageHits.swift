import CEL
import Policies

/// What tests have seen of a policy, added up.
struct CoverageHits: Sendable {
    struct NodeHits: Sendable {
        var evaluated = 0
        var wasTrue = 0
        var wasFalse = 0

        mutating func add(_ other: NodeHits) {
            evaluated += other.evaluated
            wasTrue += other.wasTrue
            wasFalse += other.wasFalse
        }
    }

    /// By expression and node.
    private(set) var nodes: [Int: [AST.NodeID: NodeHits]] = [:]
    /// By item.
    private(set) var items: [Int: ItemHits] = [:]
    /// How many tests.
    private(set) var tests = 0

    mutating func countTest() { tests += 1 }

    mutating func add(_ run: PolicyRun) {
        for (expression, result) in run.results { add(expression, result.trace) }
        for (item, hits) in run.items { add(item, hits) }
    }

    mutating func add(_ expression: Int, _ trace: [TraceEvent]) {
        for event in trace {
            var hits = NodeHits(evaluated: 1)
            switch event.outcome {
            case .success(.bool(true)): hits.wasTrue = 1
            case .success(.bool(false)): hits.wasFalse = 1
            default: break
            }
            nodes[expression, default: [:]][event.node, default: NodeHits()].add(hits)
        }
    }

    private mutating func add(_ item: Int, _ hits: ItemHits) {
        var sum = items[item] ?? ItemHits()
        sum.reached += hits.reached
        sum.matched += hits.matched
        for (index, count) in hits.counts.enumerated() {
            if index == sum.counts.count { sum.counts.append((0, 0)) }
            sum.counts[index].met += count.met
            sum.counts[index].unmet += count.unmet
        }
        items[item] = sum
    }

    mutating func add(_ other: CoverageHits) {
        tests += other.tests
        for (expression, hits) in other.nodes {
            for (node, hits) in hits {
                nodes[expression, default: [:]][node, default: NodeHits()].add(hits)
            }
        }
        for (item, hits) in other.items { add(item, hits) }
    }
}

extension PolicyCoverage {
    init(_ entry: PolicySet.Entry, _ traced: TracedPolicy, _ hits: CoverageHits) {
        self.init(
            policy: entry.policy.reference, kind: entry.policy.kind, source: entry.source,
            tests: hits.tests,
            parts: traced.items.indices.map { Self.part($0, traced, hits) })
    }

    private static func part(_ place: Int, _ traced: TracedPolicy, _ hits: CoverageHits) -> Part {
        let item = traced.items[place]
        let own = hits.items[place] ?? ItemHits()
        var part = Part(
            kind: item.kind, name: item.name, depth: item.depth, position: item.position,
            reached: own.reached, matched: own.matched, sites: [])
        if item.hasVerdict {
            let passed = item.kind == .limit ? own.reached - own.matched : own.matched
            part.sites.append(
                verdict(item.name, item.position, passed, own.reached - passed))
        }
        for (index, text) in item.counts.enumerated() {
            let count = index < own.counts.count ? own.counts[index] : (0, 0)
            part.sites.append(verdict(text, item.position, count.0, count.1))
        }
        for (role, index) in item.expressions {
            let expression = traced.expressions[index]
            let ast = expression.program.ast
            let seen = hits.nodes[index] ?? [:]
            for site in ExpressionSites(expression.program, role).sites {
                let node = seen[site.node] ?? CoverageHits.NodeHits()
                part.sites.append(
                    Site(
                        text: ast.text(of: site.node),
                        range: expression.place(of: ast[site.node].range),
                        evaluated: node.evaluated, isNode: true, isCondition: site.isCondition,
                        wasTrue: node.wasTrue, wasFalse: node.wasFalse))
            }
            if item.kind == .variable {
                let root = seen[expression.program.root]?.evaluated ?? 0
                (part.reached, part.matched) = (root, root)
            }
        }
        return part
    }

    private static func verdict(
        _ text: String, _ position: SourcePosition?, _ passed: Int, _ failed: Int
    ) -> Site {
        Site(
            text: text, range: position.map { SourceRange(start: $0, end: $0) },
            evaluated: passed + failed, isNode: false, isCondition: true, wasTrue: passed,
            wasFalse: failed)
    }
}

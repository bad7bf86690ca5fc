import Policies
import Testing

/// Every limit of what a user writes, on both sides.
@Suite struct LimitTests {
    private func codes(_ text: String) -> Set<String> {
        let load = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8)), testModel])
        return Set(load.diagnostics.filter { $0.severity == .error }.map(\.code))
    }

    private func policy(attributes: String = "", variables: String = "", rules: String = "")
        -> String
    {
        """
        kind: trust
        name: sample
        version: 1
        categories: [payment]
        attributes:
          amount: {type: double}
        \(attributes)
        rule:
          variables:
            - {name: first, expression: attributes.amount > 1.0}
        \(variables)
          match:
        \(rules)
            - {condition: variables.first, output: {friction: increased}}
            - output: {friction: unchanged}

        """
    }

    private func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map(line).joined(separator: "\n")
    }

    @Test func attributes() {
        let text = { (count: Int) in
            policy(attributes: lines(count - 1) { "  a\($0): {type: bool}" })
        }
        #expect(codes(text(PolicyLimits.attributes)) == [])
        #expect(codes(text(PolicyLimits.attributes + 1)) == ["policy.tooMany"])
    }

    @Test func windows() {
        let text = { (count: Int) in
            policy(
                attributes: "velocity:\n"
                    + lines(count) { "  w\($0): {count: evaluations, window: 1h}" })
        }
        #expect(codes(text(PolicyLimits.windows)) == [])
        #expect(codes(text(PolicyLimits.windows + 1)) == ["policy.tooMany"])
    }

    @Test func variables() {
        let text = { (count: Int) in
            policy(variables: lines(count - 1) { "    - {name: v\($0), expression: 'true'}" })
        }
        #expect(codes(text(PolicyLimits.variables)) == [])
        #expect(codes(text(PolicyLimits.variables + 1)) == ["policy.tooMany"])
    }

    @Test func rules() {
        let text = { (count: Int) in
            policy(
                rules: lines(count - 2) {
                    "    - {condition: attributes.amount > \($0).0, output: {friction: increased}}"
                })
        }
        #expect(codes(text(PolicyLimits.rules)) == [])
        #expect(codes(text(PolicyLimits.rules + 1)) == ["policy.tooMany"])
    }

    /// The variables of this policy are warned about, more than a hundred times.
    @Test func warningsDoNotHideAnError() {
        let text = policy(
            variables: lines(150) { "    - {name: v\($0), expression: 'true'}" },
            rules: "    - {condition: 'true', output: {friction: unchanged}}")
        #expect(codes(text) == [])
        let load = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8))])
        #expect(load.set != nil)
        #expect(load.diagnostics.last?.severity == .warning)
        #expect(load.diagnostics.last?.code == "tooManyDiagnostics")
    }

    @Test func nestedRules() {
        let text = { (depth: Int) in
            let inner = (1..<depth).reduce("{output: {friction: unchanged}}") { text, _ in
                "{rule: {match: [\(text)]}}"
            }
            return policy(rules: "    - " + inner)
        }
        #expect(codes(text(PolicyLimits.ruleDepth)) == [])
        #expect(codes(text(PolicyLimits.ruleDepth + 1)).contains("yaml.tooDeep"))
    }

    @Test func notify() {
        let text = { (count: Int) in
            let names = (0..<count).map { "n\($0)" }.joined(separator: ", ")
            return policy(
                rules:
                    "    - {condition: attributes.amount > 1.0, output: {friction: increased, notify: [\(names)]}}"
            )
        }
        #expect(codes(text(PolicyLimits.notify)) == [])
        #expect(codes(text(PolicyLimits.notify + 1)) == ["policy.tooMany"])
    }

    @Test func expressions() {
        let text = { (bytes: Int) in
            let head = "attributes.amount > 1.0 && \""
            let tail = "\" != \"\""
            let filling = String(repeating: "a", count: bytes - head.utf8.count - tail.utf8.count)
            return policy(
                rules:
                    "    - {condition: '\(head)\(filling)\(tail)', output: {friction: increased}}")
        }
        #expect(codes(text(PolicyLimits.expressionBytes)) == [])
        #expect(codes(text(PolicyLimits.expressionBytes + 1)) == ["yaml.tooLarge"])
    }

    @Test func names() {
        let text = { (bytes: Int) in
            policy().replacing(
                "name: sample", with: "name: " + String(repeating: "a", count: bytes))
        }
        #expect(codes(text(PolicyLimits.nameBytes)) == [])
        #expect(codes(text(PolicyLimits.nameBytes + 1)) == ["policy.badName"])
    }

    @Test func holdsAndWindows() {
        let hold = { (text: String) in
            policy(
                rules:
                    "    - {condition: attributes.amount > 1.0, output: {friction: increased, holdFor: \(text)}}"
            )
        }
        #expect(codes(hold("72h")) == [])
        #expect(codes(hold("3d")) == [])
        #expect(codes(hold("72h1ms")) == ["policy.holdTooLong"])
        let window = { (text: String) in
            policy(attributes: "velocity: {w: {count: evaluations, window: \(text)}}")
        }
        #expect(codes(window("400d")) == [])
        #expect(codes(window("400d1ms")) == ["policy.outOfRange"])
        #expect(codes(window("1ms")) == [])
    }
}

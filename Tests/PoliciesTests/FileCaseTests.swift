import Policies
import Testing

/// Files that would cut a policy short or hide it, each an error with its place.
@Suite struct FileCaseTests {
    private static func policy(_ rule: String) -> String {
        """
        kind: trust
        name: cut
        version: 1
        categories: [payment]
        attributes:
          amount: {type: double}
          newPayee: {type: bool}
        rule:
          match:

        """ + rule + "\n    - output: {friction: unchanged}\n"
    }

    private static let rules: [(text: String, line: Int?)] = [
        (
            """
                - id: large
                  condition: >
                    attributes.amount > 500.0 &&
                    attributes.newPayee
                  output: {friction: increased, steps: [warn]}
            """, nil
        ),
        // The second half stands too far to the left: it would be lost.
        (
            """
                - id: large
                  condition: >
                    attributes.amount > 500.0 &&
                  attributes.newPayee
                  output: {friction: increased, steps: [warn]}
            """, 13
        ),
        // Here what is left would be a whole condition of its own.
        (
            """
                - id: large
                  condition: >
                    attributes.amount > 500.0
                  && attributes.newPayee
                  output: {friction: increased, steps: [warn]}
            """, 13
        ),
        (
            """
                - id: large
                condition: attributes.amount > 500.0
                  output: {friction: increased, steps: [warn]}
            """, 11
        ),
    ]

    @Test(arguments: rules.indices) func caseE41_aBlockThatIsCutShortIsAnError(_ index: Int) {
        let (rule, line) = Self.rules[index]
        let load = PolicyLoader().load([
            .init(path: "cut.yaml", bytes: Array(Self.policy(rule).utf8))
        ])
        let errors = load.diagnostics.filter { $0.severity == .error }
        #expect(errors.isEmpty == (line == nil), "\(load.rendered())")
        #expect((load.set == nil) == (line != nil))
        guard let line else { return }
        #expect(errors.allSatisfy { $0.file == "cut.yaml" })
        #expect(errors.contains { abs($0.range.start.line - line) <= 1 }, "\(load.rendered())")
    }
}

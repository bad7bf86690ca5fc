import CEL

/// Any bytes as an expression without names: the parser, its recovery, the rendering of what it
/// says. Checking is lenient, so that what can be read is made a program whatever it means.
final class ParseTarget: FuzzTarget {
    private let environment: Environment = {
        var environment = Environment()
        environment.checking = .lenient
        return environment
    }()

    func run(_ input: [UInt8]) {
        let compiled = environment.compile(utf8: input)
        examine(compiled.diagnostics, of: input)
        expect(
            (compiled.program == nil) == compiled.diagnostics.contains { $0.severity == .error },
            "a program and errors, or neither")
        for node in compiled.ast.nodes {
            expect(
                node.range.lowerBound >= 0 && node.range.upperBound <= input.count,
                "a node spans \(node.range), outside of \(input.count) bytes")
        }
    }
}

import Testing

extension Scenarios {
    /// `discern cel eval` and `functions` as a person calls them.
    @Suite struct CELTools {
        static let variables: [(variables: [String], expression: String, output: String)] = [
            // As docs/cel.md has them.
            (["n:uint=5"], "n + 1u", "6u"),
            (
                ["d:double=3", "t:timestamp=\"2026-03-01T00:00:00Z\""],
                "t + duration(\"1h\") > t && d == 3.0", "true"
            ),
            (["at:net.IP=\"10.1.2.3\""], "cidr(\"10.0.0.0/8\").containsIP(at)", "true"),
            // A type or a value alone, and both.
            (["n=5"], "n + 1", "6"), (["b:bytes=\"aGk=\""], "string(b)", "\"hi\""),
            (["x:optional_type(int)=null"], "x.orValue(7)", "7"),
            (["l:list(double)=[1, 2]"], "l[0] + l[1]", "3.0"),
            (["m:map(int, string)={\"1\": \"one\"}"], "m[1]", "\"one\""),
            (["a=1", "b=2"], "a + b", "3"),
        ]

        @Test(arguments: variables) func variablesHaveTypes(
            _ variables: [String], _ expression: String, _ output: String
        ) throws {
            let run = try Program.run(
                ["cel", "eval", expression] + variables.flatMap { ["--var", $0] })
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output == output + "\n")
        }

        static let refused: [(String, String)] = [
            ("n:int=\"a\"", "n"), ("n:uint=-1", "-1 is no value of uint"),
            ("n:itn=1", "did you mean `int`?"), ("n:list(=1", "is no type"), ("n={", "n"),
            ("t:timestamp=\"yesterday\"", "is no value of"),
        ]

        @Test(arguments: refused) func otherValuesAreUsage(_ variable: String, _ part: String)
            throws
        {
            let run = try Program.run(["cel", "eval", "1", "--var", variable])
            #expect(run.status == 2 && run.output.isEmpty)
            #expect(run.errors.contains("--var") && run.errors.contains(part), "\(run.errors)")
        }

        @Test func functionsAreListedByName() throws {
            let all = try Program.run(["cel", "functions"])
            #expect(all.status == 0 && all.lines.count > 100)
            let some = try Program.run(["cel", "functions", "startsWith", "endsWith"])
            #expect(some.status == 0 && some.lines.count == 2)
            #expect(some.lines.allSatisfy { all.lines.contains($0) })
            // A macro is no function, and says so beside those that have it in their names.
            let map = try Program.run(["cel", "functions", "map"])
            #expect(map.status == 0 && map.errors.contains("`map` is a macro"), "\(map.errors)")
            let none = try Program.run(["cel", "functions", "nothingOfTheKind"])
            #expect(none.status == 1 && none.output.isEmpty)
        }
    }
}

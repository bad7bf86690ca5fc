import CEL
import Testing

/// The words and places of the type check, which all implementations of CEL share: a rule that is
/// refused elsewhere is refused here with the same line, column and message.
@Suite struct CheckMessageTests {
    /// Expressions with a mark before the place, and the message.
    static let cases: [(marked: String, message: String)] = [
        ("«»y", "undeclared reference to 'y' (in container '')"),
        ("1 + .«»y", "undeclared reference to '.y' (in container '')"),
        ("«»group.nope", "undeclared reference to 'group' (in container '')"),
        ("x «»+ 'a'", "found no matching overload for '_+_' applied to '(int, string)'"),
        ("(x + 1) «»< 'a'", "found no matching overload for '_<_' applied to '(int, string)'"),
        ("x «»in [true]", "found no matching overload for '@in' applied to '(int, list(bool))'"),
        ("«»-'a'", "found no matching overload for '-_' applied to '(string)'"),
        ("true && «»!x", "found no matching overload for '!_' applied to '(int)'"),
        ("true && «»x && true", "expected type 'bool' but found 'int'"),
        ("true || false || x «»* 2", "expected type 'bool' but found 'int'"),
        ("x «»? 1 : 2", "found no matching overload for '_?_:_' applied to '(int, int, int)'"),
        (
            "x > 1 «»? 'a' : 2",
            "found no matching overload for '_?_:_' applied to '(bool, string, int)'"
        ),
        ("[x]«»['a']", "found no matching overload for '_[_]' applied to '(list(int), string)'"),
        (
            "[x]«»[?'a']",
            "found no matching overload for '_[?_]' applied to '(list(int), string)'"
        ),
        ("x«».field", "type 'int' does not support field selection"),
        ("x«».?field", "type 'int' does not support field selection"),
        ("has«»(x.field)", "type 'int' does not support field selection"),
        ("nope«»(x, 1)", "undeclared reference to 'nope' (in container '')"),
        ("'a'.nope«»(x)", "undeclared reference to 'nope' (in container '')"),
        ("size«»(x)", "found no matching overload for 'size' applied to '(int)'"),
        ("x.size«»()", "found no matching overload for 'size' applied to 'int.()'"),
        (
            "'a'.matches«»(x, 'b')",
            "found no matching overload for 'matches' applied to 'string.(int, string)'"
        ),
        (
            "startsWith«»('a', 'b')",
            "found no matching overload for 'startsWith' applied to '(string, string)'"
        ),
        (
            "math.abs«»('a')",
            "found no matching overload for 'math.abs' applied to '(string)'"
        ),
        (
            "timestamp(0) «»+ timestamp(0)",
            "found no matching overload for '_+_' applied to '(timestamp, timestamp)'"
        ),
        ("[?«»x]", "expected type 'optional_type(int)' but found 'int'"),
        ("Nope«»{}", "undeclared reference to 'Nope' (in container '')"),
        (
            "«»x.all(i, true)",
            "expression of type 'int' cannot be range of a comprehension "
                + "(must be list, map, or dynamic)"
        ),
        ("[1].all(i, i «»+ 1)", "expected type 'bool' but found 'int'"),
        ("[1].exists(i, «»i)", "expected type 'bool' but found 'int'"),
        (
            "[1].exists_one«»(i, i)",
            "found no matching overload for '_?_:_' applied to '(int, int, int)'"
        ),
        (
            "['a'].filter«»(i, i)",
            "found no matching overload for '_?_:_' applied to '(string, list(string), "
                + "list(string))'"
        ),
        (
            "['a'].map«»(i, i, 1)",
            "found no matching overload for '_?_:_' applied to '(string, list(int), list(int))'"
        ),
        (
            "x.optMap«»(i, i)",
            "found no matching overload for 'hasValue' applied to 'int.()'"
        ),
    ]

    @Test(arguments: cases) func says(_ marked: String, _ message: String) throws {
        let (text, range) = unmark(marked)
        var environment = Environment()
        try environment.declare("x", .int)
        try environment.declare("group.a", .int)
        let found = environment.compile(text).diagnostics
        #expect(found.map(\.message) == [message])
        #expect(found.first?.place == range?.lowerBound)
    }

    @Test func namesTheContainer() {
        var environment = Environment()
        environment.container = "a.b"
        let found = environment.compile("y").diagnostics.first
        #expect(found?.message == "undeclared reference to 'y' (in container 'a.b')")
    }

    /// A chain of operators is balanced; each finding is at the sign between the two sides.
    @Test func chainsPointAtTheirOperands() {
        let found = Environment().compile("1 && true || 2 && 3").diagnostics
        #expect(found.map(\.place) == [0, 13, 18])
    }

    @Test func showsThePlaceWithinTheText() throws {
        let text = "1 +\n  (x.size() * 'a')"
        var environment = Environment()
        try environment.declare("x", .string)
        let found = try #require(environment.compile(text).diagnostics.first)
        #expect(
            SourceText(Array(text.utf8), name: "p").render(found) == """
                p:2:13: error: found no matching overload for '_*_' applied to '(int, string)' \
                [cel.type.overload]
                    (x.size() * 'a')
                     ~~~~~~~~~^~~~~

                """)
    }
}

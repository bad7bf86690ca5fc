// CEL, the Common Expression Language: text to checked tree to flat program to value.
//
// The public face, in the order in which a host meets it:
//
//   var environment = Environment(zones: database)           what expressions may refer to
//   try environment.declare("attributes", .object(type))     → slots 0..<n, one per leaf field
//   try environment.declare("now", .timestamp)               → one slot more
//   try environment.declare("variables.large", computedBy: program)
//   environment.declare(Function(name:overloads:body:))
//   environment.slot("attributes.amount")                    → Int?
//   environment.slots[i]                                      path, type, isOptional, values, program
//
//   let result = environment.compile(text)                   CompileResult
//   result.diagnostics                                        [Diagnostic], errors and warnings
//   SourceText(bytes, name: file).render(diagnostic)          file:line:col, line, caret, help
//   result.program                                            Program?, nil if there is an error
//
//   program.resultType, .source, .slotUse                     what it gives, what it reads
//   program.ast.conjuncts(of: program.root)                   [AST.NodeID]
//   program.ast[id].kind / .type / .reference / .range        for tools
//   program.ast.slotUse(below: id)                            read, and tested with has()
//   program.part(id), program.traced()                        programs over the same slots
//   program.costEstimate(sizes: ["l": .text(bytes: 64)])      minimum, maximum (nil: no bound)
//
//   var activation = Activation(environment)                 ~Copyable; one per thread; reusable
//   activation.set(slot, value) / .clear(slot) / .reset()
//   program.evaluate(&activation)                             EvaluationResult: outcome, cost, trace
//   program.evaluateCondition(&activation)                    .matched, .notMatched, .failed(error)
//   error.code == .missing, error.missing                     the paths of absent slots
//
// Folders follow the pipeline: Face (what is public), Syntax (bytes to tree), Check (types and
// names), Library (signatures and bodies of functions), Program (tree to instructions), Evaluate
// (cells, arena, the interpreter), Cost (what an evaluation can cost, told before).
//
// Choices that the specification leaves open, or that differ from other implementations:
//
// - Numbers of different kinds compare by their exact values. One exception is asked for by the
//   specification's tests: for `<` and its kin, ints that round to 2^63 are level with that double.
// - Errors are values. Of two errors at `&&`, `||`, `all` or `exists` the left one stays, but an
//   absent slot gives way to any other error; if all are absent slots, all of them are named.
// - A map literal with two equal keys is an error; `{1: a, 1u: b}` has equal keys.
// - `string(double)` writes the shortest digits that read back the same, with an exponent from
//   1e+21 on and below 1e-4.
// - A duration is a count of nanoseconds in 64 bits: ±292 years. `int(duration)` gives that count.
// - Protobuf messages are those of `google.protobuf` that the language itself knows. `Empty` and
//   `FieldMask` are values of their own; all others are the value that they stand for, `Any` what
//   it carries. Enumerations are ints.
// - A constant part is evaluated when it is compiled. One that can only fail is a warning,
//   `cel.alwaysFails`, and stays an error value.
// - An absent slot under `has()` is false; a computed variable always counts as present.

import CEL
import Glibc
import JSON
import Time

// Measures the evaluator in this process. Reads the expressions and their inputs from a file,
// checks every result, and prints one line of JSON for each expression and form of input:
//
//   {"name":"payment_rule","form":"dyn","ns":41.2,"bind":310.0,"compile":9120.0,…}
//
// usage: cel-benchmark FILE [FORM NAME]
//        cel-benchmark work [PART]
//
// With a form and a name it evaluates that one for ever, for a profiler. With `work` it prints which
// calls of functions (whose text has the part) take the longest for a unit of cost.

/// Nanoseconds of the processor time of this thread: what another process takes is not in it.
func nanoseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return Double(now.tv_sec) * 1e9 + Double(now.tv_nsec)
}

/// The median time of one call, of many batches of about 200 µs each after as many to warm up.
func median(batches: Int = 151, _ body: () -> Void) -> Double {
    var size = 1
    while true {
        let start = nanoseconds()
        for _ in 0..<size { body() }
        if nanoseconds() - start > 200_000 || size > 1 << 24 { break }
        size *= 2
    }
    var times: [Double] = []
    for _ in 0..<batches {
        let start = nanoseconds()
        for _ in 0..<size { body() }
        times.append((nanoseconds() - start) / Double(size))
    }
    return times.sorted()[batches / 2]
}

let arguments = CommandLine.arguments
if arguments.count > 1, arguments[1] == "work" {
    try Work.run(matching: arguments.count > 2 ? arguments[2] : nil)
    exit(0)
}
guard arguments.count == 2 || arguments.count == 4, let bytes = contents(of: arguments[1]),
    let cases = Cases(bytes)
else {
    fail("usage: cel-benchmark FILE [FORM NAME]")
}
for form in Form.allCases where arguments.count == 2 || arguments[2] == form.rawValue {
    for expression in cases.expressions
    where arguments.count == 2 || arguments[3] == expression.name {
        var subject = Subject(form: form, cases: cases, expression: expression)
        if arguments.count == 4 { while true { subject.evaluate() } }
        write(subject.measured() + "\n", to: STDOUT_FILENO)
    }
}

import CEL
import Glibc

/// The fuzzer of the compiler's runtime, as a function.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@main
enum Fuzzer {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        _ = chosen
        exit(
            runFuzzer(&count, &arguments) { start, count in
                chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            })
    }
}

/// One way into the language.
protocol FuzzTarget: AnyObject {
    func run(_ input: [UInt8])
}

// `FUZZ_TARGET` names which one it is; the fuzzer calls from one thread.
nonisolated(unsafe) private let chosen: any FuzzTarget = {
    switch getenv("FUZZ_TARGET").map({ String(cString: $0) }) ?? "" {
    case "parse": return ParseTarget()
    case "check": return CheckTarget()
    case "evaluate": return EvaluateTarget()
    case let name:
        fail("FUZZ_TARGET is `\(name)`, and not one of parse, check, evaluate")
    }
}()

/// Ends the process, so that the fuzzer keeps the input.
func fail(_ message: String) -> Never {
    let line = Array("invariant: \(message)\n".utf8)
    _ = write(2, line, line.count)
    abort()
}

func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
}

/// What holds of everything that is said about a source text.
func examine(_ diagnostics: [Diagnostic], of source: [UInt8]) {
    let text = SourceText(source, name: "fuzz")
    for diagnostic in diagnostics {
        expect(
            0...source.count ~= diagnostic.range.lowerBound
                && diagnostic.range.upperBound <= source.count,
            "\(diagnostic.code) points to \(diagnostic.range), outside of \(source.count) bytes")
        expect(!diagnostic.message.isEmpty, "\(diagnostic.code) says nothing")
        expect(!text.render(diagnostic).isEmpty, "\(diagnostic.code) shows nothing")
    }
}

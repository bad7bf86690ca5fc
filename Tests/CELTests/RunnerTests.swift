import CELConformance
import JSON
import Testing
import Time

/// The runner of the conformance suite, with tests of our own in its form.
@Suite("Runner of the conformance suite")
struct RunnerTests {
    private func run(_ test: String) throws -> ConformanceOutcome {
        let json = try JSONReader.parse(
            Array(#"{"sections": [{"tests": [{"id": "a/b/c", \#(test)}]}]}"#.utf8))
        let file = try ConformanceFile(name: "a", json)
        return ConformanceRunner(zones: .utc).run(try #require(file.tests.first))
    }

    @Test(arguments: [
        #""expr": "1 + 1", "expect": {"value": {"int": "2"}}"#,
        #""expr": "0.0 / 0.0", "expect": {"value": {"double": "NaN"}}"#,
        #""expr": "{1: [null]}", "expect": {"value": {"map": [[{"int": "1"}, {"list": [{"null": null}]}]]}}"#,
        #""expr": "1 / 0", "expect": {"error": [{"code": 0, "message": "x"}]}"#,
        #""expr": "1 + 'a'", "expect": {"error": [{"code": 0, "message": "x"}]}"#,
        #""expr": "1 == 1.0", "disable_check": true, "expect": {"value": {"bool": true}}"#,
        #""expr": "all(x)", "disable_macros": true, "disable_check": true, "expect": {"error": [{}]}"#,
        #""expr": "y", "container": "x", "bindings": {"x.y": {"uint": "1"}}, "expect": {"value": {"uint": "1"}}"#,
        #""expr": "b + x", "bindings": {"x": {"bytes": "YQ=="}, "b": {"bytes": ""}}, "expect": {"value": {"bytes": "YQ=="}}"#,
        #""expr": "t + d", "bindings": {"t": {"timestamp": {"seconds": "5", "nanos": 1}}, "d": {"duration": {"seconds": "-5", "nanos": 0}}}, "expect": {"value": {"timestamp": {"seconds": "0", "nanos": 1}}}"#,
        #""expr": "type(x)", "bindings": {"x": {"map": []}}, "expect": {"value": {"type": "map"}}"#,
        #""expr": "[x]", "type_env": [{"name": "x", "ident": {"type": {"wrapper": "int"}}}], "check_only": true, "expect": {"typed_result": {"type": {"list": {"wrapper": "int"}}}}"#,
        #""expr": "x + 1", "type_env": [{"name": "x", "ident": {"type": "int", "value": {"int": "4"}}}], "expect": {"typed_result": {"type": "int", "value": {"int": "5"}}}"#,
        #""expr": "f([x])", "type_env": [{"name": "f", "function": {"overloads": [{"overload_id": "f", "params": [{"list": {"param": "T"}}], "result_type": {"abstract": {"name": "box", "params": [{"param": "T"}]}}}]}}, {"name": "x", "ident": {"type": {"message": "google.protobuf.Duration"}}}], "check_only": true, "expect": {"typed_result": {"type": {"abstract": {"name": "box", "params": ["duration"]}}}}"#,
        // Messages: with the value that they stand for, or by their bytes alone.
        #""expr": "x", "bindings": {"x": {"object": "a/google.protobuf.Int32Value", "value": 5, "wire": "CAU=", "cel": {"int": "5"}}}, "expect": {"value": {"int": "5"}}"#,
        #""expr": "x", "bindings": {"x": {"object": "a/google.protobuf.FieldMask", "value": "a,b", "wire": "CgFhCgFi"}}, "expect": {"value": {"object": "a/google.protobuf.FieldMask", "value": "a,b", "wire": "CgFhCgFi"}}"#,
        #""expr": "google.protobuf.Empty{}", "expect": {"value": {"object": "a/google.protobuf.Empty", "value": {}, "wire": ""}}"#,
    ])
    func passes(_ test: String) throws {
        guard case .passed = try run(test) else {
            Issue.record("\(try run(test))")
            return
        }
    }

    @Test(arguments: [
        #""expr": "1", "expect": {"value": {"uint": "1"}}"#,
        #""expr": "1", "expect": {"value": {"double": "1.0"}}"#,
        #""expr": "0.0", "expect": {"value": {"double": "-0.0"}}"#,
        #""expr": "1", "expect": {"error": [{}]}"#,
        #""expr": "1 / 0", "expect": {"value": {"int": "1"}}"#,
        #""expr": "[1]", "expect": {"typed_result": {"type": {"list": "uint"}}}"#,
        #""expr": "google.protobuf.Empty{}", "expect": {"value": {"object": "a/google.protobuf.FieldMask", "value": "", "wire": ""}}"#,
    ])
    func fails(_ test: String) throws {
        guard case .failed = try run(test) else {
            Issue.record("\(try run(test))")
            return
        }
    }

    /// What cannot be run is said to be skipped, with the reason.
    @Test(arguments: [
        #""needs": ["proto"], "expr": "1", "expect": {"value": {"int": "2"}}"#,
        #""expr": "x", "bindings": {"x": {"object": "a/my.Message", "value": {}, "wire": ""}}, "expect": {"value": {"int": "2"}}"#,
        #""expr": "1", "expect": {"value": {"enum": {"type": "my.Enum", "value": "1"}}}"#,
        #""expr": "1", "expect": {"unknown": {}}"#,
    ])
    func skips(_ test: String) throws {
        guard case .skipped(let reason) = try run(test) else {
            Issue.record("\(try run(test))")
            return
        }
        #expect(!reason.isEmpty)
    }
}

import CCurl
import JSON

/// Talks to the server that runs on a data folder, with the operator's key.
struct ServerClient {
    var server: RunningServer

    /// What went wrong on the way.
    struct Failure: Error, CustomStringConvertible {
        var description: String
        /// The problem's code, if the server answered with one.
        var code: String?
        /// Guards that refused an activation, and why.
        var guards: JSONValue?

        /// Whether policy files are at fault.
        var isAboutPolicies: Bool { code == "policyInvalid" || code == "policyConflict" }
    }

    func get(_ path: String) throws -> JSONValue { try call(path, body: nil) }

    func post(_ path: String, _ body: JSONValue) throws -> JSONValue {
        try call(path, body: body.text)
    }

    private func call(_ path: String, body: String?) throws -> JSONValue {
        guard let handle = curl_easy_init() else { throw Failure(description: "libcurl failed") }
        defer { curl_easy_cleanup(handle) }
        var headers = curl_slist_append(nil, "Authorization: Bearer \(server.operatorKey)")
        headers = curl_slist_append(headers, "Content-Type: application/json")
        defer { curl_slist_free_all(headers) }
        _ = discern_curl_set_text(handle, CURLOPT_URL, "http://\(server.address)\(path)")
        _ = discern_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
        _ = discern_curl_set_number(handle, CURLOPT_TIMEOUT_MS, 30_000)
        // The server is on this machine: a proxy of the environment has no part in it.
        _ = discern_curl_set_text(handle, CURLOPT_NOPROXY, "*")
        if let body { _ = discern_curl_set_text(handle, CURLOPT_COPYPOSTFIELDS, body) }
        let answer = Received()
        _ = discern_curl_set_write(
            handle,
            { data, size, count, context in
                guard let data, let context else { return 0 }
                let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
                received.bytes += UnsafeRawBufferPointer(start: data, count: size * count)
                return size * count
            }, Unmanaged.passUnretained(answer).toOpaque())
        let status = curl_easy_perform(handle)
        guard status == CURLE_OK else {
            throw Failure(
                description: "the server at \(server.address) does not answer: "
                    + String(cString: curl_easy_strerror(status)))
        }
        return try read(answer.bytes, handle)
    }

    private func read(_ bytes: [UInt8], _ handle: UnsafeMutableRawPointer) throws -> JSONValue {
        var status = 0
        _ = discern_curl_status(handle, &status)
        let json: JSONValue
        do {
            json = try JSONReader.parse(bytes)
        } catch {
            throw Failure(description: "the server answered \(status) without JSON")
        }
        guard (200..<300).contains(status) else {
            let code = json["code"]?.stringValue
            let text = RefusalText.text(
                json["detail"]?.stringValue ?? json["title"]?.stringValue ?? "refused",
                field: json["field"]?.stringValue, value: json["value"],
                allowed: json["allowed"]?.arrayValue ?? [], code: code ?? String(status))
            let faults = (json["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
            throw Failure(
                description: ([text] + faults).joined(separator: "\n"), code: code,
                guards: json["guards"])
        }
        return json
    }

    private final class Received {
        var bytes: [UInt8] = []
    }
}

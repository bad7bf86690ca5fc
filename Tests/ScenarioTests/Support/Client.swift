import Foundation
import Glibc
import JSON

/// What a server answered.
struct Answer: Sendable {
    var status: Int
    /// By lower-case name.
    var headers: [String: String]
    var body: [UInt8]

    /// The body; null if it is not JSON.
    var json: JSONValue { (try? JSONReader.parse(body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }
    var code: String? { json["code"]?.stringValue }

    subscript(name: String) -> JSONValue? { json[name] }
    func string(_ name: String) -> String? { json[name]?.stringValue }
}

/// An HTTP/1.1 client of bare sockets that keeps its connection. Used by one thread at a time;
/// many threads use one each.
final class Client {
    enum Failure: Error, Equatable { case connect(Int32), closed, timeout, malformed(String) }

    private let port: UInt16
    private let key: String
    private var descriptor: Int32 = -1
    private var received: [UInt8] = []

    init(port: UInt16, key: String) {
        self.port = port
        self.key = key
    }

    deinit { disconnect() }

    func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        received = []
    }

    /// Connects, if it is not connected.
    func connect() throws {
        guard descriptor < 0 else { return }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.connect(errno) }
        var limit = timeval(tv_sec: Wait.guardSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var one: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one,
            socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let error = errno
            disconnect()
            throw Failure.connect(error)
        }
    }

    /// Sends a request and waits for its answer. Nothing is ever sent twice.
    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
    ) throws -> Answer {
        try send(method, target, body.map { Array($0.utf8) }, headers: headers)
    }

    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: [UInt8]?, headers: [String: String] = [:]
    ) throws -> Answer {
        try begin(method, target, body, headers: headers)
        return try finish(hasBody: method != "HEAD")
    }

    /// Sends a request, whose answer is to be taken with `finish`.
    func begin(
        _ method: String, _ target: String, _ body: [UInt8]?, headers: [String: String] = [:]
    ) throws {
        var all = ["Host": "127.0.0.1"]
        if !key.isEmpty { all["Authorization"] = "Bearer \(key)" }
        if let body {
            all["Content-Type"] = "application/json"
            all["Content-Length"] = String(body.count)
        }
        for (name, value) in headers { all[name] = value.isEmpty ? nil : value }
        var bytes = Array("\(method) \(target) HTTP/1.1\r\n".utf8)
        for (name, value) in all { bytes += Array("\(name): \(value)\r\n".utf8) }
        bytes += [13, 10] + (body ?? [])
        do {
            try connect()
            try send(bytes)
        } catch {
            disconnect()
            throw error
        }
    }

    /// Waits for the answer to what `begin` sent.
    func finish(hasBody: Bool = true) throws -> Answer {
        do {
            let answer = try answer(hasBody: hasBody)
            if answer.headers["connection"]?.lowercased() == "close" { disconnect() }
            return answer
        } catch {
            disconnect()
            throw error
        }
    }

    func get(_ target: String) throws -> Answer { try send("GET", target) }

    func post(_ target: String, _ body: JSONValue) throws -> Answer {
        try send("POST", target, body.canonicalBytes)
    }

    func put(_ target: String, _ body: JSONValue) throws -> Answer {
        try send("PUT", target, body.canonicalBytes)
    }

    private func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.closed }
            sent += count
        }
    }

    private func answer(hasBody: Bool) throws -> Answer {
        var end = headEnd
        while end == nil {
            try receive()
            end = headEnd
        }
        guard let end else { throw Failure.closed }
        let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Failure.malformed(String(lines.first ?? ""))
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Failure.malformed(String(line)) }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        received.removeFirst(end + 4)
        var answer = Answer(status: status, headers: headers, body: [])
        guard hasBody, status != 204, status >= 200 else { return answer }
        guard let length = headers["content-length"].flatMap({ Int($0) }) else {
            throw Failure.malformed("no Content-Length")
        }
        while received.count < length { try receive() }
        answer.body = Array(received[..<length])
        received.removeFirst(length)
        return answer
    }

    private var headEnd: Int? {
        guard received.count >= 4 else { return nil }
        return received.withUnsafeBufferPointer { bytes in
            (0...(bytes.count - 4)).first {
                bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13
                    && bytes[$0 + 3] == 10
            }
        }
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { throw Failure.timeout }
        guard count > 0 else { throw Failure.closed }
        received.append(contentsOf: buffer[..<count])
    }
}

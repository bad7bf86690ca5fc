import Glibc
import Server

/// A client of bare sockets: it sends exactly the bytes it is told to.
final class RawClient {
    struct Answer: Equatable {
        var status: Int
        var headers: [String: String]
        var body: String
    }

    enum Failure: Error { case connect(Int32), closed, timeout, malformed(String) }

    let descriptor: Int32
    private var received: [UInt8] = []

    init(_ server: HTTPServer, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Nothing here waits that long unless something is broken.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        if var receiveBuffer {
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer,
                socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.address.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure.connect(errno) }
    }

    deinit { close(descriptor) }

    /// Sends all of it; false if the peer has gone.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// No more bytes from us; the peer sees the end of the stream and can still answer.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next answer. `hasBody` is false for an answer to HEAD.
    func answer(hasBody: Bool = true) throws -> Answer {
        var headEnd = self.headEnd
        while headEnd == nil {
            guard try receive() else { throw Failure.closed }
            headEnd = self.headEnd
        }
        guard let headEnd else { throw Failure.closed }
        let lines = String(decoding: received[..<headEnd], as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: true)
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Failure.malformed(String(lines[0]))
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
        }
        received.removeFirst(headEnd + 4)
        var answer = Answer(status: status, headers: headers, body: "")
        if status >= 200, hasBody {
            let length = Int(headers["content-length"] ?? "") ?? 0
            while received.count < length {
                guard try receive() else { throw Failure.closed }
            }
            answer.body = String(decoding: received[..<length], as: UTF8.self)
            received.removeFirst(length)
        }
        return answer
    }

    /// Waits until the server has closed the connection, or reset it.
    func waitForClose() throws {
        while try receive() {}
    }

    private var headEnd: Int? {
        guard received.count >= 4 else { return nil }
        return (0...(received.count - 4)).first {
            received[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10])
        }
    }

    /// False at the end of the stream.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 {
            if errno == EAGAIN { throw Failure.timeout }
            if errno == ECONNRESET { return false }
            throw Failure.connect(errno)
        }
        received.append(contentsOf: buffer[..<count])
        return count > 0
    }
}

/// A server on a free port of the loopback.
func startServer(
    limits: ServerLimits = ServerLimits(),
    handler: @escaping @Sendable (HTTPRequest, Responder) -> Void
) throws -> HTTPServer {
    guard let address = SocketAddress("127.0.0.1:0") else { throw RawClient.Failure.connect(0) }
    return try HTTPServer(
        HTTPServer.Configuration(address: address, limits: limits), handler: handler)
}

/// Answers with what it was asked, so that a test can see what arrived.
@Sendable func echo(_ request: HTTPRequest, _ responder: Responder) {
    var text = "\(request.method.name) \(request.path)"
    for item in request.query { text += " \(item.name)=\(item.value)" }
    if let authorization = request.authorization { text += " auth:\(authorization)" }
    if let type = request.contentType { text += " type:\(type)" }
    text += " body:" + String(decoding: request.body, as: UTF8.self)
    responder.answer(HTTPResponse(status: 200, contentType: "text/plain", body: Array(text.utf8)))
}

/// Runs on a thread of its own.
func detach(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    var handle = pthread_t()
    pthread_create(
        &handle, nil,
        { pointer in
            if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
            return nil
        }, box.toOpaque())
    pthread_detach(handle)
}

private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

import CMicroHTTPD
import Glibc
import Synchronization

// What libmicrohttpd calls, in the order in which it does so for one request. All run on the
// thread of the pool that owns the connection.

/// Whether a new connection is let in: not while the server drains.
let mayAccept: MHD_AcceptPolicyCallback = { core, _, _ in
    ServerCore.from(core)?.isDraining.load(ordering: .relaxed) == false ? .YES : .NO
}

/// A connection opens or closes.
let connectionChanged: MHD_NotifyConnectionCallback = { core, connection, context, change in
    guard let core = ServerCore.from(core), let connection, let context else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        let deadline = monotonicMilliseconds() + core.limits.idleMilliseconds
        let opened = Connection(
            socket: discern_connection_socket(connection), deadline: deadline)
        core.connections.insert(opened)
        context.pointee = Unmanaged.passRetained(opened).toOpaque()
    } else if let pointer = context.pointee {
        context.pointee = nil
        core.connections.remove(Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue())
    }
}

/// The request line is there. What is returned becomes the request's state.
let requestBegan:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
        UnsafeMutableRawPointer? = { core, target, connection in
            guard let core = ServerCore.from(core), let target, let connection,
                let context = discern_connection_context(connection)
            else { return nil }
            let socket = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
            socket.wait(
                for: .headers, until: monotonicMilliseconds() + core.limits.headerMilliseconds)
            let exchange = Exchange(
                core: core, connection: connection, socket: socket,
                target: String(cString: target))
            socket.exchange.withLock { $0 = exchange }
            return Unmanaged.passRetained(exchange).toOpaque()
        }

/// libmicrohttpd would decode a target in place, leniently. It is left as it is and read by us.
let leaveEncoded:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?
    ) -> Int = { _, _, text in text.map { strlen($0) } ?? 0 }

/// First with the head, then with each piece of the body, then with its end, then, if the
/// connection was suspended, once more when the answer is there.
let requestProceeded: MHD_AccessHandlerCallback = {
    _, _, _, method, _, data, size, state in
    guard let state = state?.pointee, let method, let size else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(state).takeUnretainedValue()
    if !exchange.hasHead { return exchange.takeHead(method: String(cString: method)) }
    if size.pointee > 0 {
        let piece = UnsafeRawBufferPointer(start: data, count: size.pointee)
        size.pointee = 0
        return exchange.takeBody(piece)
    }
    return exchange.takeEnd()
}

/// The answer is sent, or the connection is lost.
let requestEnded: MHD_RequestCompletedCallback = { core, _, state, _ in
    guard let core = ServerCore.from(core), let pointer = state?.pointee else { return }
    state?.pointee = nil
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    exchange.socket.exchange.withLock { $0 = nil }
    exchange.socket.wait(
        for: .idle, until: monotonicMilliseconds() + core.limits.idleMilliseconds)
    if exchange.isEntered { core.leave() }
}

extension ServerCore {
    /// The core that was handed to libmicrohttpd; it outlives the daemon.
    fileprivate static func from(_ pointer: UnsafeMutableRawPointer?) -> ServerCore? {
        pointer.map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
    }
}

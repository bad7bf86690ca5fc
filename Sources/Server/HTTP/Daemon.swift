import CMicroHTTPD
import Glibc

/// libmicrohttpd's daemon, and what must outlive it.
///
/// Unchecked: the pointer never changes, and `stop` is called once, by the server's `stop`.
///
/// `MHD_quiesce_daemon` is not used: in a pool with epoll it races with the workers over who
/// takes the listening socket out of their sets, and aborts the process where it comes second.
/// While the server drains, `mayAccept` turns new connections away instead.
final class Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let core: Unmanaged<ServerCore>

    init(
        core: ServerCore, listening socket: borrowing ListeningSocket, threads: Int
    ) throws(HTTPServer.StartError) {
        // libmicrohttpd closes what it is given when it stops; so it gets its own.
        let listening = dup(socket.descriptor)
        guard listening >= 0 else { throw .system("dup", errno) }
        let retained = Unmanaged.passRetained(core)
        guard
            let pointer = Self.start(
                retained.toOpaque(), listening: listening, threads: threads, limits: core.limits)
        else {
            retained.release()
            close(listening)
            throw .daemon
        }
        self.pointer = pointer
        self.core = retained
    }

    /// Ends all threads. No connection may be suspended.
    func stop() {
        MHD_stop_daemon(pointer)
        core.release()
    }

    private static func start(
        _ core: UnsafeMutableRawPointer, listening: Int32, threads: Int, limits: ServerLimits
    ) -> OpaquePointer? {
        var options = [
            option(.LISTEN_SOCKET, Int(listening)),
            option(.THREAD_POOL_SIZE, threads),
            option(.CONNECTION_LIMIT, limits.connections),
            option(.CONNECTION_MEMORY_LIMIT, limits.headerBytes),
            // Our deadlines act first; this one is the second line.
            option(
                .CONNECTION_TIMEOUT,
                Int(max(limits.idleMilliseconds, limits.bodyMilliseconds) / 1000 + 30)),
            option(.STRICT_FOR_CLIENT, 1),
            option(
                .NOTIFY_CONNECTION, unsafeBitCast(connectionChanged, to: Int.self), core),
            option(
                .URI_LOG_CALLBACK, unsafeBitCast(requestBegan, to: Int.self), core),
            option(.UNESCAPE_CALLBACK, unsafeBitCast(leaveEncoded, to: Int.self)),
            option(.NOTIFY_COMPLETED, unsafeBitCast(requestEnded, to: Int.self), core),
            option(.END, 0),
        ]
        return options.withUnsafeMutableBufferPointer { options in
            // An array is passed as the address of its first item.
            let arguments: [any CVarArg] = [
                MHD_OPTION.ARRAY.rawValue, Int(bitPattern: options.baseAddress),
                MHD_OPTION.END.rawValue,
            ]
            return withVaList(arguments) {
                MHD_start_daemon_va(
                    MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue, 0,
                    mayAccept, core, requestProceeded, nil, $0)
            }
        }
    }

    private static func option(
        _ name: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil
    ) -> MHD_OptionItem {
        MHD_OptionItem(option: name, value: value, ptr_value: pointer)
    }
}

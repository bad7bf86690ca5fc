import Glibc

/// A thread of the operating system that runs one closure.
final class BackgroundThread: Sendable {
    private let handle: pthread_t

    /// Starts the thread. Nil if the system has none left.
    /// - Parameter name: at most 15 bytes, for debuggers and `top`.
    init?(name: String, _ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let status = pthread_create(
            &handle, nil,
            { pointer in
                if let pointer {
                    Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
                }
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return nil
        }
        pthread_setname_np(handle, name)
        self.handle = handle
    }

    /// Waits for the closure to return. To be called once.
    func join() { pthread_join(handle, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// A flag that one thread raises and another sleeps on.
final class WakeUp: Sendable {
    private let descriptor: Int32

    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC.rawValue | EFD_NONBLOCK.rawValue))
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Raises the flag for good.
    func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Sleeps. True if the flag was raised, false if the time was up.
    func sleep(milliseconds: Int64) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, Int32(clamping: milliseconds)) > 0
    }
}

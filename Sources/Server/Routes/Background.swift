import Engine
import Synchronization

/// Work of a call that takes its time: on a thread of its own, since those of the server must
/// not wait, and one at a time, so that nobody can start any number of threads.
final class Background: Sendable {
    private let isBusy = Mutex(false)

    /// Answers with what `work` gives. Refuses, to be tried again, while other work goes on.
    func answer(_ responder: Responder, _ work: @escaping @Sendable () -> HTTPResponse)
        throws(Problem)
    {
        let isMine = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isMine else {
            throw Problem(.unavailable, detail: "The same is being done for another call.")
        }
        let isStarted = Thread.detach { [self] in
            let response = work()
            isBusy.withLock { $0 = false }
            responder.answer(response)
        }
        guard isStarted else {
            isBusy.withLock { $0 = false }
            throw Problem(.unavailable, detail: "The system has no thread to give.")
        }
    }
}

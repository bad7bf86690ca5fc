import Glibc
import Ledger
import Synchronization
import Time

/// The decision engine: a bounded queue, and one thread that takes what is there as a batch.
///
/// A reply is released only after its batch is durable. There is no batching window: while
/// one batch is on its way to the disk, the next gathers by itself.
public final class Engine: Sendable {
    private struct Queue: Sendable {
        var waiting: [Waiting] = []
        var isStopping = false
    }

    private final class Waiting: Sendable {
        let submission: Submission
        let reply: @Sendable (Reply) -> Void

        init(_ submission: Submission, reply: @escaping @Sendable (Reply) -> Void) {
            self.submission = submission
            self.reply = reply
        }
    }

    private let queue = Guarded(Queue())
    private let published: Mutex<Directory>
    private let failing = Mutex<String?>(nil)
    private let ahead: Mutex<Duration>
    private let committed: Atomic<Int64>
    private let thread: Mutex<Thread?>
    /// Time zones for review policies and expressions.
    public let zones: ZoneDatabase

    /// Starts the engine on a store: reads what it holds, then takes commands.
    ///
    /// `clock` gives the wall clock; only the engine's thread asks it. `failed` is told, on that
    /// thread, why a batch could not be stored.
    public init(
        store: any Store, zones: ZoneDatabase,
        clock: @escaping @Sendable () -> Instant = Engine.wallClock,
        failed: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let core = try Core(store: store, zones: zones)
        self.zones = zones
        guard let directory = core.takeDirectory() else {
            throw CorruptEntry(detail: "no directory")
        }
        published = Mutex(directory)
        ahead = Mutex(core.now - clock())
        committed = Atomic(core.nextSequence - 1)
        thread = Mutex(nil)
        // The core is handed over to the thread and used by nobody else from here on.
        let confined = Confined(core)
        let worker = Thread(name: "engine") { [weak self] in
            self?.run(confined.core, clock, failed)
        }
        thread.withLock { $0 = worker }
    }

    private struct Confined: @unchecked Sendable {
        // Unchecked: made by one thread, then used by the engine's alone.
        let core: Core

        init(_ core: Core) { self.core = core }
    }

    /// The system's time.
    public static let wallClock: @Sendable () -> Instant = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    // MARK: Asking

    /// Hands a command in; `reply` is called once, on the engine's thread. False if too many
    /// wait already, or the engine is stopping: then it was not taken.
    public func submit(
        _ submission: Submission, reply: @escaping @Sendable (Reply) -> Void
    ) -> Bool { submitAll([submission]) { _, answer in reply(answer) } }

    /// Hands several commands in, which follow each other without others between; all or none.
    public func submitAll(
        _ submissions: [Submission], reply: @escaping @Sendable (Int, Reply) -> Void
    ) -> Bool {
        queue.signal { queue in
            guard !queue.isStopping,
                queue.waiting.count + submissions.count <= EngineLimits.queued
            else { return false }
            for (index, submission) in submissions.enumerated() {
                queue.waiting.append(Waiting(submission) { reply(index, $0) })
            }
            return true
        }
    }

    /// Hands a command in and waits for the reply.
    public func perform(_ submission: Submission) -> Reply {
        let answer = Guarded<Reply?>(nil)
        guard submit(submission, reply: { reply in answer.signal { $0 = reply } }),
            let reply = answer.wait(for: { $0 })
        else {
            return Reply(
                content: .refused(
                    Refusal(.queueFull, "too many commands are waiting", isRetryable: true)),
                now: .min)
        }
        return reply
    }

    /// Who may call and what acts, as of the latest commit.
    public var directory: Directory { published.withLock { $0 } }

    /// How many commands wait.
    public var queueLength: Int { queue.withLock { $0.waiting.count } }

    /// How far the engine's clock, which never goes back, is ahead of the wall clock; zero or
    /// less where that is right. As of the latest batch.
    public var clockAhead: Duration { ahead.withLock { $0 } }

    /// How many entries are durable.
    public var committedSize: UInt64 { UInt64(committed.load(ordering: .acquiring)) }

    /// From how far ahead on something is wrong: the wall clock was, or is.
    public static let clockTolerance = Duration.minutes(5)

    /// Why the latest batch could not be stored; `nil` when it could.
    public var failure: String? { failing.withLock { $0 } }

    /// Answers everything that was taken, then ends the thread.
    public func stop() {
        queue.signal { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    // MARK: The thread

    private func run(_ core: Core, _ clock: () -> Instant, _ failed: (String) -> Void) {
        while let batch = nextBatch() {
            let wallClock = clock()
            let replies = core.perform(Self.salted(batch), wallClock: wallClock)
            ahead.withLock { $0 = core.now - wallClock }
            let earlier = failing.withLock { failing in
                defer { failing = core.failure }
                return failing
            }
            // Told once, not for every batch of a long outage.
            if let failure = core.failure, failure != earlier { failed(failure) }
            // After a failure the end that is known may be one that was not stored.
            if core.failure == nil { committed.store(core.nextSequence - 1, ordering: .releasing) }
            if let directory = core.takeDirectory() { published.withLock { $0 = directory } }
            for (waiting, reply) in zip(batch, replies) { waiting.reply(reply) }
        }
        core.keepSnapshot()
    }

    /// The commands of a batch, each with the chance it needs.
    private static func salted(_ batch: [Waiting]) -> [Submission] {
        let chance = Random.bytes(batch.count * Submission.saltLength)
        return batch.enumerated().map { index, waiting in
            var submission = waiting.submission
            if submission.salt.isEmpty {
                let start = index * Submission.saltLength
                submission.salt = Array(chance[start..<start + Submission.saltLength])
            }
            return submission
        }
    }

    /// What waits, up to a batch; `nil` at the end.
    private func nextBatch() -> [Waiting]? {
        let batch: [Waiting] =
            queue.wait { queue in
                if queue.waiting.isEmpty { return queue.isStopping ? [] : nil }
                if queue.waiting.count <= EngineLimits.batch {
                    defer { queue.waiting = [] }
                    return queue.waiting
                }
                defer { queue.waiting.removeFirst(EngineLimits.batch) }
                return Array(queue.waiting.prefix(EngineLimits.batch))
            } ?? []
        return batch.isEmpty ? nil : batch
    }
}

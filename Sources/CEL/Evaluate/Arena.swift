/// Memory that grows in chunks, never moves, and is given back all at once or down to a mark.
struct Arena: ~Copyable {
    struct Mark {
        fileprivate var chunk: Int
        fileprivate var cursor: UnsafeMutableRawPointer?
        fileprivate var used: Int
    }

    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var current = -1
    private var cursor: UnsafeMutableRawPointer?
    private var room = 0
    /// Bytes handed out since the last reset.
    private(set) var used = 0
    /// The most bytes that may be handed out.
    var limit: Int
    /// The size of the first chunk; each is twice the one before, up to a megabyte.
    private let chunk: Int

    init(limit: Int, chunk: Int = 4096) {
        self.limit = limit
        self.chunk = chunk
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Memory for so many bytes, aligned to 16; nil beyond the limit.
    @inline(__always)
    mutating func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let size = (bytes + 15) & ~15
        guard size <= room, used + size <= limit, let start = cursor else {
            return allocateSlowly(size)
        }
        cursor = start + size
        room -= size
        used += size
        return start
    }

    private mutating func allocateSlowly(_ size: Int) -> UnsafeMutableRawPointer? {
        guard size >= 0, used + size <= limit else { return nil }
        current += 1
        let wanted = max(size, min(chunk << min(current, 16), 1 << 20))
        if current == chunks.count {
            chunks.append(.allocate(byteCount: wanted, alignment: 16))
        } else if chunks[current].count < size {
            // A larger one takes its place. Were it skipped, texts that grow from one evaluation to
            // the next would leave a chunk behind each time.
            chunks[current].deallocate()
            chunks[current] = .allocate(byteCount: wanted, alignment: 16)
        }
        cursor = chunks[current].baseAddress
        room = chunks[current].count
        guard let start = cursor else { return nil }
        cursor = start + size
        room -= size
        used += size
        return start
    }

    /// Memory for so many cells; nil beyond the limit.
    mutating func cells(_ count: Int) -> UnsafeMutablePointer<Cell>? {
        // Counts come from lengths of 32 bits, so the product cannot overflow.
        allocate(count * MemoryLayout<Cell>.stride)?.bindMemory(to: Cell.self, capacity: count)
    }

    /// Bytes taken from the system.
    var reserved: Int { chunks.reduce(0) { $0 + $1.count } }

    var mark: Mark { Mark(chunk: current, cursor: cursor, used: used) }

    mutating func rewind(to mark: Mark) {
        current = mark.chunk
        cursor = mark.cursor
        used = mark.used
        guard current >= 0, let cursor, let start = chunks[current].baseAddress else {
            room = 0
            return
        }
        room = chunks[current].count - (cursor - start)
    }

    mutating func reset() { rewind(to: Mark(chunk: -1, cursor: nil, used: 0)) }
}

/// What works with regular expressions: `matches` and the regex extension.
extension Machine {
    mutating func matches(_ text: Cell, _ regex: Regex) -> Cell {
        guard text.tag == .string else { return noOverload("matches", text) }
        cost += regex.cost(text.count)
        if cost > costLimit { return bare(.costLimit) }
        return .bool(regex.matches(text.bytes))
    }

    /// The latest expressions that were no constants; more would let input fill the memory.
    private static let cachedRegexes = 8
    /// What compiling one costs at least, in steps.
    private static let regexCost = 2_000

    mutating func withRegex(_ pattern: Cell, _ body: (inout Machine, Regex) -> Cell) -> Cell {
        let known = regexCache.first { $0.pattern.elementsEqual(pattern.bytes) }
        if let known { return body(&self, known.regex) }
        // Compiling costs far more than anything else here.
        cost += Self.regexCost + 16 * pattern.count
        if cost > costLimit { return bare(.costLimit) }
        switch Regex.compile(Array(pattern.bytes), limits: limits) {
        case .success(let regex):
            cost += 64 * regex.size
            if regexCache.count >= Self.cachedRegexes { regexCache.removeFirst() }
            regexCache.append((Array(pattern.bytes), regex))
            return body(&self, regex)
        case .failure(let fault):
            // What is too large was compiled up to the limit.
            if fault.isTooLarge { cost += limits.regexMemory / 4 }
            return error(.invalidArgument, "no regular expression: \(fault.message)")
        }
    }

    // MARK: The extension

    mutating func regex(_ builtin: Builtin, _ a: Arguments) -> Cell {
        guard a.count >= 2, a[0].tag == .string, a[1].tag == .string else {
            return noOverload(builtin, a)
        }
        return withRegex(a[1]) { machine, regex in
            machine.cost += regex.cost(a[0].count)
            if machine.cost > machine.costLimit { return machine.bare(.costLimit) }
            switch (builtin, a.count) {
            case (.regexExtract, 2):
                if regex.groups > 1 { return machine.tooManyGroups() }
                guard let found = regex.find(a[0].bytes, from: 0), let span = found.last,
                    span.start >= 0
                else { return Cell.none }
                return machine.some(machine.part(a[0], span.start..<span.end))
            case (.regexExtractAll, 2): return machine.extractAll(a[0], regex)
            case (.regexReplace, 3...4)
            where a[2].tag == .string && (a.count == 3 || a[3].tag == .int):
                return machine.regexReplace(
                    a[0].bytes, regex, a[2].bytes, a.count == 4 ? a[3].asInt : -1)
            default: return machine.noOverload(builtin, a)
            }
        }
    }

    private mutating func tooManyGroups() -> Cell {
        error(.invalidArgument, "the regular expression has more than one capturing group")
    }

    /// Calls back for every match, from the left, none overlapping. False ends it.
    private mutating func eachMatch(
        _ text: UnsafeRawBufferPointer, _ regex: Regex,
        _ body: (inout Machine, [(start: Int, end: Int)]) -> Bool
    ) -> Bool {
        var index = 0
        while index <= text.count, let found = regex.find(text, from: index) {
            // A match may be certain only after the rest of the text was read, though fast.
            cost += regex.cost(found[0].end - index) + regex.cost(text.count - index) >> 4
            if cost > costLimit { return false }
            if !body(&self, found) { break }
            index = found[0].end
            if found[0].start == found[0].end {
                index += max(1, CodePoints.width(at: index, in: text))
            }
        }
        return true
    }

    private mutating func extractAll(_ text: Cell, _ regex: Regex) -> Cell {
        if regex.groups > 1 { return tooManyGroups() }
        var parts: [Cell] = []
        let isDone = eachMatch(text.bytes, regex) { machine, found in
            if let span = found.last, span.start >= 0 {
                parts.append(machine.part(text, span.start..<span.end))
            }
            return true
        }
        return isDone ? makeList(parts) : bare(.costLimit)
    }

    private mutating func regexReplace(
        _ text: UnsafeRawBufferPointer, _ regex: Regex, _ template: UnsafeRawBufferPointer,
        _ limit: Int64
    ) -> Cell {
        var result: [UInt8] = []
        var index = 0
        var left = limit < 0 ? Int64.max : limit
        var failure: Cell?
        let isDone = eachMatch(text, regex) { machine, found in
            guard left > 0, machine.mayMake(template.count),
                result.count <= machine.limits.stringBytes
            else { return false }
            left -= 1
            result += text[index..<found[0].start]
            index = found[0].end
            failure = machine.expand(template, text, found, into: &result)
            return failure == nil
        }
        if let failure { return failure }
        guard isDone else { return bare(.costLimit) }
        guard result.count <= limits.stringBytes else {
            return error(.sizeLimit, "the result is too long")
        }
        result += text[index...]
        return makeString(result)
    }

    /// `\1` in a replacement is the first group, `\\` a backslash.
    private mutating func expand(
        _ template: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer,
        _ found: [(start: Int, end: Int)], into result: inout [UInt8]
    ) -> Cell? {
        var index = 0
        while index < template.count {
            guard template[index] == UInt8(ascii: "\\") else {
                result.append(template[index])
                index += 1
                continue
            }
            let next = index + 1 < template.count ? template[index + 1] : 0
            if next == UInt8(ascii: "\\") {
                result.append(next)
            } else if Lexer.isDigit(next), Int(next) - 48 < found.count {
                let span = found[Int(next) - 48]
                if span.start >= 0 { result += text[span.start..<span.end] }
            } else {
                return error(.invalidArgument, "the replacement names a group that is not there")
            }
            index += 2
        }
        return nil
    }
}

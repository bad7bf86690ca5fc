/// The functions of optionals.
extension Machine {
    mutating func optional(_ builtin: Builtin, _ a: Arguments) -> Cell {
        switch (builtin, a.count) {
        case (.optionalNone, 0): return Cell.none
        case (.optionalOf, 1): return some(a[0])
        case (.optionalOfNonZero, 1): return Self.isZero(a[0]) ? Cell.none : some(a[0])
        case (.unwrap, 1):
            charge(cells: a[0].tag == .list ? a[0].count : 0)
            guard a[0].tag == .list, a[0].cells.allSatisfy({ $0.tag == .optional }) else { break }
            return makeList(a[0].cells.compactMap(\.wrapped))
        case (_, 1...2) where a[0].tag == .optional:
            switch (builtin, a.count) {
            case (.hasValue, 1): return .bool(a[0].wrapped != nil)
            case (.value, 1):
                return a[0].wrapped ?? error(.invalidArgument, "the optional has no value")
            case (.or, 2) where a[1].tag == .optional: return a[0].wrapped != nil ? a[0] : a[1]
            case (.orValue, 2): return a[0].wrapped ?? a[1]
            default: break
            }
        default: break
        }
        return noOverload(builtin, a)
    }

    private static func isZero(_ cell: Cell) -> Bool {
        switch cell.tag {
        case .null: true
        case .bool, .int, .uint, .duration: cell.bits == 0
        case .double: cell.asDouble == 0
        case .string, .bytes, .list, .map: cell.length == 0
        case .timestamp: cell.bits == 0 && cell.length == 0
        case .optional: cell.wrapped == nil
        case .message: cell.cells[1].length == 0
        default: false
        }
    }
}

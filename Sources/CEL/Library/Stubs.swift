extension Machine {
    mutating func stringExtension(_ builtin: Builtin, _ a: Arguments) -> Cell {
        noOverload(builtin, a)
    }
    mutating func regex(_ builtin: Builtin, _ a: Arguments) -> Cell { noOverload(builtin, a) }
    mutating func network(_ builtin: Builtin, _ a: Arguments) -> Cell { noOverload(builtin, a) }
    mutating func structure(_ i: Instruction, _ code: Code) -> Cell { bare(.undeclared) }
}
enum NetworkText {
    struct Address { var bytes: [UInt8]; var prefix: Int? }
    static func parse(_ text: String) -> Address? { nil }
    static func text(_ cell: Cell) -> String { "" }
}

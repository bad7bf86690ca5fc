/// What a reference of the language names beside ``Function/standard``; docs/cel.md is compared with it.
package enum Reference {
    /// Every macro with the numbers of arguments that it takes.
    package static var macros: [String: Set<Int>] {
        var found: [String: Set<Int>] = ["has": [1]]
        for (name, forms) in Parser.loops { found[name] = Set(forms.keys) }
        for (name, count) in Parser.celMacros { found["cel." + name] = [count] }
        return found
    }

    /// The fields of each message of `google.protobuf`, by its name there.
    package static var messages: [String: [String]] {
        Dictionary(
            uniqueKeysWithValues: WellKnown.messages.map { name, message in
                (String(name.dropFirst(WellKnown.prefix.count)), message.fields.keys.sorted())
            })
    }
}

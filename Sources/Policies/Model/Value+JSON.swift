import CEL
import JSON

extension Value {
    /// Numbers without a point are ints, objects are maps with string keys, save those that
    /// `special` makes something else of.
    package init(_ json: JSONValue, special: (JSONObject) -> Value? = { _ in nil }) {
        self =
            switch json {
            case .null: .null
            case .bool(let value): .bool(value)
            case .int(let value): .int(value)
            case .uint(let value): .uint(value)
            case .double(let value): .double(value)
            case .string(let value): .string(value)
            case .array(let elements): .list(elements.map { Value($0, special: special) })
            case .object(let object):
                special(object)
                    ?? .map(
                        ValueMap(
                            object.members.map {
                                ValueMap.Entry(
                                    key: .string($0.key), value: Value($0.value, special: special))
                            }))
            }
    }
}

import Time

/// The limits of what a user writes; each is tested on both sides.
public enum PolicyLimits {
    /// The longest `holdFor`: 72 hours. Anything longer is a block in disguise.
    public static let hold = Duration(milliseconds: 72 * 3_600_000)
    /// The longest velocity window: 400 days, as long as labels are taken.
    public static let window = Duration(milliseconds: 400 * 86_400_000)
    /// The largest policy, model or test file, in bytes.
    public static let fileBytes = 1 << 20
    /// The deepest nesting of YAML nodes.
    public static let yamlDepth = 64
    /// The most YAML nodes in one file.
    public static let yamlNodes = 100_000
    /// The longest name of a policy, rule, attribute, window or variable, in bytes.
    public static let nameBytes = 100
    /// The most attributes of one policy.
    public static let attributes = 100
    /// The most velocity windows of one policy.
    public static let windows = 50
    /// The most rules of one policy, nested ones and their parents included.
    public static let rules = 500
    /// The most variables of one policy.
    public static let variables = 200
    /// The deepest nesting of `rule` blocks.
    public static let ruleDepth = 10
    /// The most variables and nested rules of one plain policy, together.
    public static let nestedExpressions = 100
    /// The longest single expression, in bytes.
    public static let expressionBytes = 10_000
    /// The most values that `values:` of an attribute may list.
    public static let attributeValues = 1_000
    /// The longest string attribute where `maxLength` says nothing, in Unicode scalars.
    public static let defaultMaxLength = 256
    /// The largest `maxLength` that may be asked for, in Unicode scalars.
    public static let maxLength = 4_096
    /// The most names in one `notify`.
    public static let notify = 20
    /// The most errors, and the most warnings, reported for one file; the rest is counted.
    public static let diagnosticsPerFile = 100
}

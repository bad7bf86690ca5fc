import CEL

/// A checked policy of kind `trust`: immutable, complete, ready to run.
public final class TrustPolicy: Sendable {
    /// The policy's name.
    public let name: String
    /// The policy's version, from 1.
    public let version: Int
    /// What the policy is for, in prose; empty where the file says nothing.
    public let description: String
    /// The categories it can act for; never empty, without repetition.
    public let categories: [Category]
    /// Everything the caller may send, in file order.
    public let attributes: [AttributeDeclaration]
    /// The velocity windows, in file order.
    public let velocity: [VelocityWindow]
    /// The model whose result is `insight`; nil where the policy names none (outcome `unknown`).
    public let model: ModelReference?
    /// The rules as a tree.
    public let rule: RuleBlock
    /// Every match of the tree in policy order: a match before those nested in it.
    public let rules: [RuleSummary]
    /// Every variable of the tree, in file order.
    public let variables: [Variable]
    /// The index of every value that expressions read.
    public let slots: SlotLayout
    /// What the expressions were compiled against; its slots are those of `slots`.
    public let environment: Environment
    /// The file.
    public let source: PolicySource

    /// `name@version`, as activations name it.
    public var reference: String { "\(name)@\(version)" }

    /// The lowercase hexadecimal SHA-256 of the file's exact bytes.
    public var digest: String { source.digest }

    /// The declaration of an attribute; nil if there is none.
    public func attribute(named name: String) -> AttributeDeclaration? {
        attributes.first { $0.name == name }
    }

    package init(
        name: String, version: Int, description: String, categories: [Category],
        attributes: [AttributeDeclaration], velocity: [VelocityWindow], model: ModelReference?,
        rule: RuleBlock, rules: [RuleSummary], variables: [Variable], slots: SlotLayout,
        environment: Environment, source: PolicySource
    ) {
        self.name = name
        self.version = version
        self.description = description
        self.categories = categories
        self.attributes = attributes
        self.velocity = velocity
        self.model = model
        self.rule = rule
        self.rules = rules
        self.variables = variables
        self.slots = slots
        self.environment = environment
        self.source = source
    }
}

/// The file a policy or model came from.
public struct PolicySource: Sendable, Hashable {
    /// The path as given to the loader.
    public let path: String
    /// The file's exact bytes.
    public let bytes: [UInt8]
    /// The lowercase hexadecimal SHA-256 of `bytes`.
    public let digest: String

    package init(path: String, bytes: [UInt8], digest: String) {
        self.path = path
        self.bytes = bytes
        self.digest = digest
    }
}

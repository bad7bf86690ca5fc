/// A function of the host, or one that is only declared for checking.
public struct Function: Sendable {
    /// One signature of a function.
    public struct Overload: Sendable, Equatable {
        /// The overload's id, unique in the environment.
        public var id: String
        /// The parameters' types; of a member function the first is the receiver.
        public var parameters: [Type]
        /// The type of the result.
        public var result: Type
        /// Whether it is called as `receiver.name(…)`.
        public var isMember: Bool

        /// A signature. Type parameters are written as ``Type/param(_:)``.
        public init(id: String, parameters: [Type], result: Type, isMember: Bool = false) {
            self.id = id
            self.parameters = parameters
            self.result = result
            self.isMember = isMember
        }
    }

    /// What a host function does with its arguments; of a member call the first is the receiver.
    public typealias Body = @Sendable ([Value]) -> Result<Value, EvaluationError>

    /// The name, with dots where it is qualified.
    public var name: String
    /// Its signatures.
    public var overloads: [Overload]
    /// What it does; nil for a function that is only declared. Must be pure.
    public var body: Body?

    /// A function.
    public init(name: String, overloads: [Overload], body: Body? = nil) {
        self.name = name
        self.overloads = overloads
        self.body = body
    }
}

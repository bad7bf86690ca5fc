import CEL
import Policies

/// Activations by policy, used again and again. For one thread.
final class ActivationPool {
    private final class Box {
        var activation: Activation

        init(_ environment: Environment) { activation = Activation(environment) }
    }

    private var boxes: [String: Box] = [:]
    /// Policies whose activations are kept at most.
    private static let limit = 256

    /// Lends an activation of a policy.
    func use<R>(_ policy: TrustPolicy, _ body: (inout Activation) -> R) -> R {
        if let box = boxes[policy.digest] { return body(&box.activation) }
        if boxes.count >= Self.limit { boxes = [:] }
        let box = Box(policy.environment)
        boxes[policy.digest] = box
        return body(&box.activation)
    }
}

import Engine
import Policies
import Time
import TrustInsights

/// What is asked in a simulation: what random stories ask, in all apps and environments, and what
/// operators do.
enum SimulatedCommand {
    static func next(_ random: inout SeededGenerator, on stage: Stage, _ loads: [CandidateLoad])
        -> (Tenant?, Command)
    {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<13: RandomStoryTests.command(&random, loads)(stage)
        case 13..<16: elsewhere(&random, on: stage)
        case 16..<18: labels(&random, on: stage)
        default: operatorCommand(&random)
        }
    }

    /// In production, and of another app.
    private static func elsewhere(_ random: inout SeededGenerator, on stage: Stage)
        -> (Tenant?, Command)
    {
        let tenant = random.pick([Stage.production, Stage.other])
        let person = random.pick(RandomStoryTests.people)
        let request = random.pick(Array(RandomStoryTests.requests.prefix(8)))
        return switch Int.random(in: 0..<6, using: &random) {
        case 0..<3:
            (tenant, stage.evaluate(request, person, tenant, amount: random.pick([1, 900])))
        case 3..<5: (tenant, stage.report(request, random.pick(ConsumptionStatus.allCases)))
        default:
            (tenant, stage.authorize(person, random.pick(AuthorizationStatus.allCases), tenant))
        }
    }

    /// Labels that are all taken, or none.
    private static func labels(_ random: inout SeededGenerator, on stage: Stage)
        -> (Tenant?, Command)
    {
        let labels = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            stage.label(
                "l\(Int.random(in: 0..<20, using: &random))",
                of: random.pick(Array(RandomStoryTests.requests.prefix(12))),
                random.pick([.confirmedFraud, .confirmedLegitimate]))
        }
        return (Stage.sandbox, .labelAll(labels))
    }

    private static func operatorCommand(_ random: inout SeededGenerator) -> (Tenant?, Command) {
        let tenant = random.pick([nil, nil, Stage.sandbox, Stage.other])
        let isShadow = Bool.random(using: &random)
        let name = random.pick(["transcripts-payments", "transcripts-review"])
        let reference = random.pick(["@2", "@3", "@4", "@5", "@1"])
        let command: AdministrationCommand =
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<3:
                .activate(
                    ActivateCommand(
                        reference: name + reference, isShadow: isShadow, reason: "a try",
                        allow: random.pick([[], PolicyGuard.allCases])))
            case 3..<5: .rollBack(policy: name, reason: "back")
            default: .deactivate(policy: name, isShadow: isShadow, reason: "enough")
            }
        return (tenant, .administer(command))
    }
}

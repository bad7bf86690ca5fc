import Engine
import JSON
import ReviewPrompts
import Time

/// Simulations as JSON.
enum SimulationJSON {
    static func text(_ run: SimulationRun) -> String {
        var object: JSONObject = [
            "policies": .array(
                zip(run.simulations, run.reports).map { json($1, $0.decidesOnDevice) })
        ]
        if !run.timeline.isEmpty {
            object["timeline"] = .array(run.timeline.map { .object(self.object($0)) })
            object["furtherEvents"] = .int(Int64(run.furtherMoments))
        }
        return JSONValue.object(object).text
    }

    private static func json(_ report: SimulationReport, _ decidesOnDevice: Bool) -> JSONValue {
        let people = report.peopleByPrompts.sorted { $0.key < $1.key }
        return .object([
            "policy": .string(report.policy), "digest": .string(report.digest),
            "decidesOnDevice": .bool(decidesOnDevice),
            "from": report.first.map { .string($0.rfc3339) } ?? .null,
            "to": report.last.map { .string($0.rfc3339) } ?? .null,
            "donations": .int(Int64(report.events)), "counted": .int(Int64(report.counted)),
            "unknownReasons": json(report.unknownReasons), "refused": json(report.refused),
            "prompts": .int(Int64(report.prompts)), "silent": .int(Int64(report.silent)),
            "givenBack": json(report.returned),
            "months": .object(
                JSONObject(
                    report.months.sorted { $0.key < $1.key }.map {
                        ($0.key.description, .int(Int64($0.value)))
                    })),
            "reasons": json(report.reasons), "versions": json(report.versions),
            "people": .int(Int64(report.people)), "devices": .int(Int64(report.devices)),
            "peopleNeverAsked": .int(Int64(report.peopleNeverAsked)),
            "peopleAtCap": .int(Int64(report.peopleAtCap)),
            "peopleByPrompts": .object(
                JSONObject(people.map { (String($0.key), .int(Int64($0.value))) })),
            "promptsAgainstLimits": .int(Int64(report.promptsAgainstLimits)),
            "violations": .object(
                JSONObject(
                    PromptViolation.allCases.map {
                        ($0.rawValue, .int(Int64(report.violations[$0] ?? 0)))
                    })),
            "held": json(report.held),
        ])
    }

    /// What lies beyond the limit of names is counted under the empty one, which nothing has.
    private static func json(_ counts: SimulationReport.Counts) -> JSONValue {
        var members = counts.named.sorted { $0.key < $1.key }.map {
            (key: $0.key, value: JSONValue.int(Int64($0.value)))
        }
        if counts.others > 0 { members.append(("", .int(Int64(counts.others)))) }
        return .object(JSONObject(members))
    }

    /// One event and what came of it.
    static func object(_ moment: SimulationRun.Moment) -> JSONObject {
        let donation = moment.event.donation
        return [
            "receivedAt": .string(moment.event.receivedAt.rfc3339),
            "occurredAt": .string(donation.occurredAt.rfc3339),
            "reason": .string(donation.reason), "device": .string(donation.device),
            "appVersion": .string(donation.version),
            "activeScene": .bool(moment.event.hasActiveScene),
            "policies": .array(moment.steps.map(json)),
        ]
    }

    private static func json(_ step: ReviewSimulation.Step) -> JSONValue {
        var object: JSONObject = [:]
        switch step.result {
        case .prompted(let isSilent):
            object["result"] = "prompted"
            object["silent"] = .bool(isSilent)
            object["violations"] = .array(step.violations.map { .string($0.rawValue) })
        case .returned(let reason):
            object["result"] = "givenBack"
            object["reason"] = reason.map { .string($0) } ?? .null
        case .held:
            object["result"] = "held"
            object["failing"] = .array(
                step.failing.map { ["rule": .string($0.rule), "cause": .string($0.cause)] })
        case .refused(let error):
            object["result"] = "refused"
            object["error"] = .string(error.description)
        }
        object["counted"] = .bool(step.isCounted)
        return .object(object)
    }
}

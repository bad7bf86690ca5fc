/// The stable codes of findings. A code never changes its meaning; messages may.
package enum Code: String, Sendable, CaseIterable {
    // The file as text and as YAML.
    case unreadable = "policy.unreadable"
    case encoding = "yaml.encoding"
    case lineBreak = "yaml.lineBreak"
    case yamlSyntax = "yaml.syntax"
    case emptyFile = "yaml.emptyFile"
    case severalDocuments = "yaml.severalDocuments"
    case duplicateKey = "yaml.duplicateKey"
    case badKey = "yaml.badKey"
    case anchorOrAlias = "yaml.anchorOrAlias"
    case unknownTag = "yaml.unknownTag"
    case tooLarge = "yaml.tooLarge"
    case tooDeep = "yaml.tooDeep"
    case tooManyDiagnostics = "tooManyDiagnostics"

    // Values of any file.
    case unknownKey = "policy.unknownKey"
    case missingKey = "policy.missingKey"
    case wrongType = "policy.wrongType"
    case outOfRange = "policy.outOfRange"
    case invalidValue = "policy.invalidValue"
    case unknownKind = "policy.unknownKind"
    case badName = "policy.badName"
    case reservedName = "policy.reservedName"
    case duplicateName = "policy.duplicateName"
    case tooMany = "policy.tooMany"

    // Declarations.
    case thresholdOrder = "policy.thresholdOrder"
    case undeclaredAttribute = "policy.undeclaredAttribute"
    case undeclaredModel = "policy.undeclaredModel"
    case undeclaredReason = "policy.undeclaredReason"
    case notStored = "policy.notStored"

    // Rules.
    case conditionNotBool = "policy.conditionNotBool"
    case explanationNotString = "policy.explanationNotString"
    case duplicateID = "policy.duplicateID"
    case emptyRule = "policy.emptyRule"
    case outcomeOrder = "policy.outcomeOrder"
    case needsIncreased = "policy.needsIncreased"
    case holdTooLong = "policy.holdTooLong"
    case blockNeedsOtherEvidence = "policy.blockNeedsOtherEvidence"
    case endsWithoutMatch = "policy.endsWithoutMatch"
    case incompatibleOutputs = "policy.incompatibleOutputs"

    // Warnings about rules.
    case unreachableRule = "policy.unreachableRule"
    case alwaysTrue = "policy.alwaysTrue"
    case addsNothing = "policy.addsNothing"
    case overlappingRules = "policy.overlappingRules"
    case reducedWhenUnknown = "policy.reducedWhenUnknown"
    case raisesButNoMatch = "policy.raisesButNoMatch"
    case scoreMayBeAbsent = "policy.scoreMayBeAbsent"
    case unused = "policy.unused"
    case impossibleValue = "policy.impossibleValue"
    case categoryOther = "policy.categoryOther"
    case undeclaredInput = "policy.undeclaredInput"

    // The set of files.
    case sameVersionOtherContent = "set.sameVersionOtherContent"
    case sameFileTwice = "set.sameFileTwice"
    case categoryTaken = "set.categoryTaken"

    // Models.
    case bandOrder = "model.bandOrder"

    // Tests.
    case noExpectation = "test.noExpectation"
    case unknownPolicy = "test.unknownPolicy"
    case unknownRule = "test.unknownRule"
    case badInput = "test.badInput"
    case noTests = "test.noTests"
}

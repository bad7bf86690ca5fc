// swift-tools-version: 6.2
import PackageDescription

// Floors: a module may import only what stands below it (docs/architecture.md). A target that does
// not name another cannot import it, so the lists here are what holds.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A C library of the system, found by pkg-config.
func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([apt])])
}

/// A thin C++ shim with a C face, for libraries that Swift cannot call directly.
func shim(_ name: String, links library: String) -> Target {
    .target(
        name: name, path: "Sources/System/\(name)",
        cxxSettings: [.unsafeFlags(["-std=c++17", "-O2"])],
        linkerSettings: [.linkedLibrary(library)])
}

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The fuzzer has no `main` of its own and needs instrumented modules below it (`Fuzz/run.sh`), so
/// it is there only where it is asked for.
let fuzzer: [Target] =
    Context.environment["DISCERN_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "cel-fuzz", dependencies: ["CEL", "JSON", "Policies"], path: "Fuzz/CELFuzz",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ]

let package = Package(
    name: "discern",
    products: [
        .executable(name: "discern", targets: ["discern"]),
        .library(name: "CEL", targets: ["CEL"]),
    ],
    targets: [
        // Floor 0: the system's libraries
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
        system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        .systemLibrary(name: "CMalloc", path: "Sources/System/CMalloc"),
        shim("CSimdjson", links: "simdjson"),
        shim("CRE2", links: "re2"),

        // Floor 1: languages, encodings, time
        module("JSON", ["CSimdjson"]),
        module("Time"),
        module("Ledger", ["CCrypto", "JSON", "Time"]),
        module("CEL", ["CRE2", "Time"]),

        // Floor 2: what a user writes
        module("Policies", ["CEL", "CYAML", "JSON", "Ledger", "Time"]),
        module("Scoring", ["JSON", "Policies"]),
        module("CELConformance", ["CEL", "JSON", "Policies", "Time"]),

        // Floor 3: the domain, pure
        module("TrustInsights", ["CEL", "JSON", "Policies", "Scoring", "Time"]),
        module("ReviewPrompts", ["CEL", "JSON", "Policies", "Time"]),

        // Floor 4: the decision core
        module(
            "Engine",
            [
                "CEL", "JSON", "Ledger", "Policies", "ReviewPrompts", "Scoring", "Time",
                "TrustInsights",
            ]),

        // Floor 5: the walls
        module("Storage", ["CSQLite", "Engine", "JSON", "Ledger", "Time"]),
        module(
            "Server",
            [
                "CMicroHTTPD", "Engine", "JSON", "Ledger", "Policies", "ReviewPrompts", "Time",
                "TrustInsights",
            ]),

        // Floor 6: arguments in, exit status out
        .executableTarget(
            name: "discern",
            dependencies: [
                "CCurl", "CEL", "CELConformance", "CMalloc", "Engine", "JSON", "Ledger", "Policies",
                "ReviewPrompts", "Scoring",
                "Server", "Storage", "Time", "TrustInsights",
            ],
            swiftSettings: strict),

        // Beside the house: measures the evaluator (Benchmarks/cel.py)
        .executableTarget(
            name: "cel-benchmark", dependencies: ["CEL", "JSON", "Policies", "Time"],
            path: "Benchmarks/CEL",
            exclude: ["expressions.json", "count.c", "peer.py"], swiftSettings: strict),

        // Beside the house: makes recorded evaluations to try things on
        .executableTarget(
            name: "fixture-generator",
            dependencies: [
                "Engine", "JSON", "Ledger", "Policies", "Storage", "Time", "TrustInsights",
            ],
            path: "Fixtures/Generator", swiftSettings: strict),

        tests("JSONTests", ["JSON"]),
        tests("TimeTests", ["Time"]),
        tests("LedgerTests", ["JSON", "Ledger", "Time"]),
        tests("CELTests", ["CEL", "CELConformance", "JSON", "Time"]),
        tests("PoliciesTests", ["CEL", "CELConformance", "JSON", "Policies", "Scoring", "Time"]),
        tests("TrustInsightsTests", ["Policies", "Time", "TrustInsights"]),
        tests("ReviewPromptsTests", ["JSON", "Policies", "ReviewPrompts", "Time"]),
        tests(
            "EngineTests",
            [
                "CEL", "Engine", "JSON", "Ledger", "Policies", "ReviewPrompts", "Scoring", "Time",
                "TrustInsights",
            ]),
        tests(
            "StorageTests",
            [
                "CEL", "CSQLite", "Engine", "JSON", "Ledger", "Policies", "ReviewPrompts",
                "Storage", "Time", "TrustInsights",
            ]),
        tests("ServerTests", ["Engine", "JSON", "Ledger", "Server", "Time"]),
        tests("ArchitectureTests", []),
        tests("ScenarioTests", ["CSQLite", "JSON", "Ledger", "Time"]),
    ] + fuzzer,
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

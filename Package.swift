// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

// The manifest runs where the package is built, and Apple's systems are built on macOS alone. On Linux, a resource would make
// a bundle that nobody reads.
#if os(macOS)
let privacyManifest: [Resource] = [.process("PrivacyInfo.xcprivacy")]
let excluded: [String] = []
#else
let privacyManifest: [Resource] = []
let excluded = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
    name: "ApiConnector",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ApiConnector", targets: ["ApiConnector"]),
        .library(name: "ApiConnectorTraffic", targets: ["ApiConnectorTraffic"]),
        .library(name: "ApiConnectorOpenAPI", targets: ["ApiConnectorOpenAPI"]),
        .library(name: "ApiConnectorTesting", targets: ["ApiConnectorTesting"]),
        .library(name: "ApiConnectorTestScopes", targets: ["ApiConnectorTestScopes"]),
        .library(name: "ApiConnectorTestServers", targets: ["ApiConnectorTestServers"]),
        .library(name: "ApiConnectorRecording", targets: ["ApiConnectorRecording"]),
        .library(name: "ApiConnectorContracts", targets: ["ApiConnectorContracts"]),
        .library(name: "ApiConnectorContractScopes", targets: ["ApiConnectorContractScopes"]),
        .library(name: "ApiConnectorConformance", targets: ["ApiConnectorConformance"]),
    ],
    traits: [
        .trait(
            name: "Curl",
            description: "CurlProvider, over libcurl.so.4, as the default transport on Linux; no effect elsewhere."
        ),
        .default(enabledTraits: ["Curl"]),
    ],
    targets: [
        .target(
            name: "ApiConnector",
            dependencies: [
                "ApiConnectorShared", .target(name: "CCurl", condition: .when(platforms: [.linux], traits: ["Curl"])),
            ],
            exclude: excluded,
            resources: privacyManifest
        ),
        .target(
            name: "CCurl",
            linkerSettings: [.linkedLibrary(":libcurl.so.4", .when(platforms: [.linux]))]
        ),
        // Sees ApiConnector as a user's own wrappers do: its public declarations only.
        .target(name: "ApiConnectorTraffic", dependencies: ["ApiConnector"], packageAccess: false),
        // The part of clients that are generated from OpenAPI documents that is the same in all of them.
        .target(name: "ApiConnectorOpenAPI", dependencies: ["ApiConnector"], packageAccess: false),
        // The code that ApiConnector and ApiConnectorTesting share without making it public: no product has it.
        .target(name: "ApiConnectorShared"),
        // The test doubles for a client. The other testing targets are on top of it, so that a test compiles only the targets
        // that it imports.
        .target(name: "ApiConnectorTesting", dependencies: ["ApiConnector", "ApiConnectorShared"]),
        // Apart, because it imports Testing and XCTest, and an app links the other testing targets.
        .target(name: "ApiConnectorTestScopes", dependencies: ["ApiConnector", "ApiConnectorTesting"]),
        .target(name: "ApiConnectorTestServers", dependencies: ["ApiConnector", "ApiConnectorTesting"]),
        .target(
            name: "ApiConnectorRecording",
            dependencies: ["ApiConnector", "ApiConnectorShared", "ApiConnectorTesting"]
        ),
        .target(
            name: "ApiConnectorContracts",
            dependencies: ["ApiConnector", "ApiConnectorTesting", "ApiConnectorRecording"]
        ),
        // Apart for the same reason as ApiConnectorTestScopes.
        .target(
            name: "ApiConnectorContractScopes",
            dependencies: [
                "ApiConnector", "ApiConnectorTesting", "ApiConnectorTestScopes", "ApiConnectorRecording",
                "ApiConnectorContracts",
            ]
        ),
        .target(
            name: "ApiConnectorConformance",
            dependencies: ["ApiConnector", "ApiConnectorTesting", "ApiConnectorTestServers"]
        ),
        // All test targets are one process: one that links it is enough, and its C runs before the first test starts.
        .target(name: "ParallelWidth", path: "Tests/ParallelWidth"),
        // The code that several test targets share.
        .target(name: "TestSupport", dependencies: ["ApiConnector"], path: "Tests/TestSupport"),
        .testTarget(
            name: "ApiConnectorTests",
            dependencies: [
                "ApiConnector", "ApiConnectorTraffic", "ApiConnectorTesting", "ApiConnectorTestServers",
                "ApiConnectorRecording", "ApiConnectorContracts", "ApiConnectorConformance", "ParallelWidth",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "ApiConnectorOpenAPITests",
            dependencies: ["ApiConnector", "ApiConnectorOpenAPI", "ApiConnectorTesting"]
        ),
        .testTarget(
            name: "ApiConnectorTestingTests",
            dependencies: [
                "ApiConnector", "ApiConnectorTraffic", "ApiConnectorTesting", "ApiConnectorTestServers",
                "ApiConnectorRecording", "ApiConnectorContracts", "ApiConnectorConformance", "TestSupport",
            ]
        ),
        .testTarget(
            name: "ApiConnectorTestScopesTests",
            dependencies: [
                "ApiConnector", "ApiConnectorTesting", "ApiConnectorTestScopes", "ApiConnectorTestServers",
                "ApiConnectorRecording", "ApiConnectorContracts", "ApiConnectorContractScopes", "TestSupport",
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "ApiConnector", "ApiConnectorTraffic", "ApiConnectorOpenAPI", "ApiConnectorTesting",
                "ApiConnectorTestScopes", "ApiConnectorTestServers", "ApiConnectorRecording", "ApiConnectorContracts",
                "ApiConnectorContractScopes", "ApiConnectorConformance",
            ]
        ),
        // Wrappers as a user writes them, in another package.
        .testTarget(
            name: "ForeignProviderTests",
            dependencies: ["ApiConnector", "ApiConnectorTesting", "ApiConnectorTestServers"],
            packageAccess: false
        ),
        // A user's package that has only these two products, written before they were divided: it must stay as it is.
        .testTarget(
            name: "UserPackageTests",
            dependencies: ["ApiConnector", "ApiConnectorTesting"],
            packageAccess: false
        ),
        .testTarget(
            name: "MainActorTests",
            dependencies: ["ApiConnector", "ApiConnectorTesting"],
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

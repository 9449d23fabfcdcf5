// swift-tools-version: 6.2
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "IntegrationTests",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "soak", targets: ["soak"]),
        .library(name: "HangingResolver", type: .dynamic, targets: ["HangingResolver"]),
    ],
    dependencies: [.package(name: "ApiConnector", path: "..")],
    targets: [
        .target(name: "MisbehavingServer"),
        .executableTarget(name: "soak", dependencies: ["ApiConnector", "MisbehavingServer", "Support"]),
        .target(name: "HangingResolver", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .executableTarget(name: "resolving", dependencies: ["ApiConnector", "MisbehavingServer", "Support"]),
        .target(name: "Support", dependencies: ["ApiConnector"]),
        .testTarget(name: "NginxTests", dependencies: ["ApiConnector", "Support"]),
        .testTarget(name: "ResolverTests", dependencies: ["Support", "resolving"]),
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

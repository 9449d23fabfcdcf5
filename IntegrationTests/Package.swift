// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "IntegrationTests",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "soak", targets: ["soak"]),
        .executable(name: "exiting", targets: ["exiting"]),
        .library(name: "Servers", targets: ["Servers"]),
        .library(name: "HangingResolver", type: .dynamic, targets: ["HangingResolver"]),
    ],
    dependencies: [.package(name: "ApiConnector", path: "..")],
    targets: [
        .target(name: "MisbehavingServer"),
        .executableTarget(
            name: "soak",
            dependencies: [
                "ApiConnector", .product(name: "ApiConnectorTraffic", package: "ApiConnector"), "MisbehavingServer",
                "Servers", "Support",
            ]
        ),
        .target(name: "HangingResolver", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .executableTarget(name: "resolving", dependencies: ["ApiConnector", "MisbehavingServer", "Support"]),
        .executableTarget(name: "exiting", dependencies: ["ApiConnector", "Servers", "Support"]),
        .target(name: "Support", dependencies: ["ApiConnector"]),
        .target(name: "Servers", dependencies: ["ApiConnector", "Support"]),
        .testTarget(name: "ServerTests", dependencies: ["ApiConnector", "Servers"]),
        .testTarget(
            name: "ClientTests",
            dependencies: ["ApiConnector", .product(name: "ApiConnectorTraffic", package: "ApiConnector"), "Servers"]
        ),
        .testTarget(name: "ResolverTests", dependencies: ["Support", "resolving"]),
        .testTarget(name: "ExitTests", dependencies: ["Support", "exiting"]),
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

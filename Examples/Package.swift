// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.executable(name: "demo", targets: ["demo"])],
    dependencies: [
        .package(name: "ApiConnector", path: ".."),
        .package(name: "Inspector", path: "../Inspector"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .target(name: "Backends", dependencies: ["ApiConnector"]),
        // Generated from blog.json by apiconnector-openapi.
        .target(
            name: "BlogClient",
            dependencies: ["ApiConnector", .product(name: "ApiConnectorOpenAPI", package: "ApiConnector")],
            exclude: ["openapi.json"],
            resources: [.embedInCode("blog.json")]
        ),
        .target(
            name: "DemoServer",
            dependencies: ["FlyingFox", .product(name: "FlyingSocks", package: "FlyingFox")]
        ),
        .target(
            name: "Walkthrough",
            dependencies: [
                "ApiConnector", .product(name: "ApiConnectorTesting", package: "ApiConnector"), "Backends",
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ApiConnectorRecording", package: "ApiConnector"),
                .product(name: "ApiConnectorContracts", package: "ApiConnector"),
                .product(name: "ApiConnectorOpenAPI", package: "ApiConnector"),
                "BlogClient",
            ]
        ),
        .executableTarget(
            name: "demo",
            dependencies: [
                "ApiConnector",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ApiConnectorTestServers", package: "ApiConnector"),
                .product(name: "ApiConnectorConformance", package: "ApiConnector"),
                "Backends",
                "DemoServer",
                "Walkthrough",
                .product(name: "Inspector", package: "Inspector"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "DemoTests",
            dependencies: [
                "ApiConnector",
                .product(name: "ApiConnectorTestScopes", package: "ApiConnector"),
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ApiConnectorTestServers", package: "ApiConnector"),
                .product(name: "ApiConnectorContracts", package: "ApiConnector"),
                "Backends",
                "BlogClient",
                "DemoServer",
                "Walkthrough",
            ]
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

// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "Adapters",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LogAdapter", targets: ["LogAdapter"]),
        .library(name: "MetricsAdapter", targets: ["MetricsAdapter"]),
        .library(name: "TracingAdapter", targets: ["TracingAdapter"]),
    ],
    dependencies: [
        .package(name: "ApiConnector", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    ],
    targets: [
        .target(name: "LogAdapter", dependencies: ["ApiConnector", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "MetricsAdapter",
            dependencies: ["ApiConnector", .product(name: "Metrics", package: "swift-metrics")]
        ),
        .target(
            name: "TracingAdapter",
            dependencies: ["ApiConnector", .product(name: "Tracing", package: "swift-distributed-tracing")]
        ),
        .testTarget(
            name: "AdapterTests",
            dependencies: [
                "ApiConnector", "LogAdapter", "MetricsAdapter", "TracingAdapter",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
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

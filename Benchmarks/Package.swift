// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "goals", targets: ["goals"]),
        .library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"]),
    ],
    dependencies: [
        .package(name: "Adapters", path: "../Adapters"),
        .package(name: "ApiConnector", path: ".."),
        .package(name: "Inspector", path: "../Inspector"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                "ApiConnector",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(name: "ForeignWrappers", dependencies: ["ApiConnector"]),
        // These C targets are for Linux only.
        .target(name: "LibcurlGets"),
        .target(name: "SystemBundle"),
        .executableTarget(
            name: "MicroBenchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                "MicroCases",
            ],
            path: "Benchmarks/MicroBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .target(
            name: "MicroCases",
            dependencies: [
                "ApiConnector",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                "ForeignWrappers",
            ]
        ),
        .executableTarget(
            name: "goals",
            dependencies: [
                "ApiConnector",
                "AsyncHTTPClientTransport",
                "ForeignWrappers",
                "Inspector",
                "LibcurlGets",
                "MicroCases",
                "SystemBundle",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "LogAdapter", package: "Adapters"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        // This is a stub, because Alamofire cannot be downloaded where this package is built.
        .target(name: "Alamofire", dependencies: ["ApiConnector"], path: "Sources/AlamofireStub"),
        .target(name: "AlamofireAdapter", dependencies: ["Alamofire", "ApiConnector"]),
        .testTarget(name: "AlamofireAdapterTests", dependencies: ["Alamofire", "AlamofireAdapter", "ApiConnector"]),
        .testTarget(
            name: "AsyncHTTPClientTransportTests",
            dependencies: [
                "ApiConnector",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "ApiConnectorTestServers", package: "ApiConnector"),
                .product(name: "ApiConnectorConformance", package: "ApiConnector"),
                "AsyncHTTPClientTransport",
            ]
        ),
        .testTarget(name: "GoalsTests", dependencies: ["goals"]),
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

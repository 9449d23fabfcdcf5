// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import PackageDescription

// On Linux, the compiler finds the header without pkg-config, and SwiftPM warns about a flag that pkg-config returns.
#if os(macOS)
let hiredis: String? = "hiredis"
#else
let hiredis: String? = nil
#endif

let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ApiConnectorFleet", targets: ["ApiConnectorFleet"])
    ],
    dependencies: [
        .package(name: "ApiConnector", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CHiredis",
            pkgConfig: hiredis,
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .target(
            name: "ApiConnectorFleet",
            dependencies: [
                "ApiConnector", "CHiredis",
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The tests and the program of Scripts/fleet start their servers with code of IntegrationTests. A package that
// Scripts/split has written is on its own, and has neither tests nor program.
if FileManager.default.fileExists(atPath: Context.packageDirectory + "/../IntegrationTests/Package.swift") {
    package.dependencies += [
        .package(name: "IntegrationTests", path: "../IntegrationTests"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ]
    package.targets += [
        .executableTarget(
            name: "fleet",
            dependencies: [
                "ApiConnector", "ApiConnectorFleet",
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Servers", package: "IntegrationTests"),
            ]
        ),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "ApiConnector", "ApiConnectorFleet",
                .product(name: "ApiConnectorTraffic", package: "ApiConnector"),
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Servers", package: "IntegrationTests"),
            ]
        ),
    ]
}

for target in package.targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

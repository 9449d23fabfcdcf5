// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "OpenAPI",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "apiconnector-openapi", targets: ["apiconnector-openapi"])],
    dependencies: [
        .package(name: "ApiConnector", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // A later minor version may rename Yams' module CYaml, which is libyaml.
        .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        // Uses only Yams' module CYaml.
        .target(name: "OpenAPIGeneration", dependencies: ["Yams"]),
        .executableTarget(
            name: "apiconnector-openapi",
            dependencies: ["OpenAPIGeneration", .product(name: "ArgumentParser", package: "swift-argument-parser")]
        ),
        .testTarget(name: "OpenAPIGenerationTests", dependencies: ["OpenAPIGeneration"]),
        // This target parses generated sources with the compiler's own parser.
        .testTarget(
            name: "GeneratedSourceTests",
            dependencies: [
                "ApiConnector", "OpenAPIGeneration",
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftParserDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "ApiConnectorContracts", package: "ApiConnector"),
            ]
        ),
        // A generated client that is checked in. A test compares it with newly generated code.
        .testTarget(
            name: "GeneratedClientTests",
            dependencies: [
                "ApiConnector", "OpenAPIGeneration",
                .product(name: "ApiConnectorOpenAPI", package: "ApiConnector"),
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
            ],
            exclude: ["constructs.yaml", "constructs-config.yaml"]
        ),
        // The client of the guide "From an OpenAPI document" in its own target, as the guide says, and the guide's code.
        // The default isolation is the one of Xcode's new apps.
        .target(
            name: "PetShop",
            dependencies: ["ApiConnector", .product(name: "ApiConnectorOpenAPI", package: "ApiConnector")],
            path: "Tests/PetShop",
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
        .testTarget(
            name: "PetShopTests",
            dependencies: [
                "ApiConnector", "PetShop", .product(name: "ApiConnectorTesting", package: "ApiConnector"),
            ],
            exclude: ["petshop.yaml", "petshop-config.yaml"],
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

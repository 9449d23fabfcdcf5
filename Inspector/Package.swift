// swift-tools-version: 6.3
// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import PackageDescription

let package = Package(
    name: "Inspector",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "Inspector", targets: ["Inspector"])],
    dependencies: [
        .package(name: "ApiConnector", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .target(
            name: "Inspector",
            dependencies: [
                "ApiConnector", "FlyingFox", .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            // The page is embedded in the program, so that the program needs no other files.
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/inspector.js"), .embedInCode("Page/inspector.css"),
            ]
        ),
        .testTarget(
            name: "InspectorTests",
            dependencies: [
                "Inspector", "FlyingFox", .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "ApiConnectorTesting", package: "ApiConnector"),
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

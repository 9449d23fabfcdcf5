// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Draws a picture of the guide "Inspecting traffic" if `Scripts/inspector-pictures` asks for it.
struct GuidePictureTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(.enabled(if: Self.environment["APICONNECTOR_INSPECTOR_PICTURE"] != nil))
    func thePageOfTheDemoIsDrawn() async throws {
        let file = URL(filePath: try #require(Self.environment["APICONNECTOR_INSPECTOR_PICTURE"]))
        let page = try #require(Self.environment["APICONNECTOR_INSPECTOR_PAGE"].flatMap { URL(string: $0) })
        let browser = try Browser(isDark: file.deletingPathExtension().lastPathComponent.hasSuffix("~dark"))
        let tab = try await browser.open(page)
        // The last exchange of the demo's traffic has this status.
        try await tab.wait(until: "[...exchanges.values()].some((exchange) => exchange.status === 204)")
        _ = try await tab.evaluate("select(shown.find((exchange) => exchange.url.endsWith('slowName')).number)")
        try await tab.wait(until: "document.querySelector('pre') && running.size === 0 && !isDue")
        try await tab.screenshot().write(to: file)
    }
}

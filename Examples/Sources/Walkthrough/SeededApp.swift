// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

/// An app that a UI test launches: a screen of pugs that is shown, and refreshed twice.
///
/// It knows nothing of tests but the line that chooses its provider.
package struct SeededApp<Provider: DataRequestType>: Sendable {
    private let screen: @MainActor @Sendable () -> PugScreen<Provider>
    private let write: @Sendable (String) -> Void

    package init(over provider: Provider, write: @escaping @Sendable (String) -> Void) {
        screen = { PugScreen(environment: .production, provider: provider) }
        self.write = write
    }

    package func run() async {
        let screen = await screen()
        await show(screen)
        for _ in 1...3 {
            await screen.refresh()
            await show(screen)
        }
    }

    private func show(_ screen: PugScreen<Provider>) async {
        write(await screen.title)
        // Of an error the first line, as a screen would have it.
        for line in await screen.lines.prefix(1) { write("  \(line)") }
    }
}

extension BackendEnvironment {
    /// Where the app's real backend would be.
    package static let production = Self(location: ServerLocation(host: "pugs.example.com", port: 80), name: "pugs")
}

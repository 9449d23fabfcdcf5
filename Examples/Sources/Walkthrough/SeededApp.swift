// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

/// An app that a UI test launches: it shows a screen of pugs and refreshes the screen twice.
///
/// Only one line depends on tests: the choice of the provider.
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
        // Only the first line of an error is shown, as on a screen.
        for line in await screen.lines.prefix(1) { write("  \(line)") }
    }
}

extension BackendEnvironment {
    /// The environment of the app's real backend.
    package static let production = Self(location: ServerLocation(host: "pugs.example.com", port: 80), name: "pugs")
}

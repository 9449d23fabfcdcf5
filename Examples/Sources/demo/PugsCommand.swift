// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ArgumentParser
import Backends

/// `demo pugs --state …`: one screen in each of its four states, with only the provider changed.
struct PugsCommand: AsyncParsableCommand {
    /// The states of the screen, each with the response that causes it.
    enum State: String, CaseIterable, ExpressibleByArgument {
        case loading, error, empty, normal

        var answer: TestConnectorResponse {
            switch self {
            case .loading: .never
            case .error: .failure(ApiConnectorError(.cannotConnect, "the pugs cannot be reached today"))
            case .empty: .json([Pug]())
            case .normal: .json([Pug(pugId: "tedthepug0810", name: "小巴哥", photo: "ted.jpg")])
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "pugs",
        abstract: "Show a screen of pugs in one of its four states, by swapping the provider."
    )

    @Option(help: "The state to show; by default the screen shows the server's response.")
    var state: State?

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.use { location in
            let (asked, ask) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let provider =
                if let state {
                    AnyProvider(
                        TestConnector { _ in
                            ask.yield()
                            return state.answer
                        }
                    )
                } else {
                    AnyProvider(SystemProvider())
                }
            let screen = await PugScreen(environment: .pugs(on: location), provider: provider)
            let refreshing = Task { await screen.refresh() }
            if state == .loading {
                for await _ in asked { break }
                await draw(screen)
                refreshing.cancel()
                await refreshing.value
                print("\nLeaving the screen canceled the call.")
            } else {
                await refreshing.value
                await draw(screen)
            }
        }
    }

    private func draw(_ screen: PugScreen<AnyProvider>) async {
        print(await screen.title)
        for line in await screen.lines { print("  \(line)") }
    }
}

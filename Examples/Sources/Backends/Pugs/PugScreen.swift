// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A screen that lists pugs, without anything to draw it on: what it shows is a function of four states.
@MainActor package final class PugScreen<Provider: DataRequestType> {
    package enum State: Sendable {
        case loading
        case error(ApiConnectorError)
        case empty
        case normal([Pug])
    }

    /// What the screen is in; loading from the start.
    package private(set) var state = State.loading

    private let api: NetworkConnector<Provider, PugRouter>

    /// Makes the screen; a test names or makes another provider.
    package init(environment: BackendEnvironment, provider: Provider) {
        api = NetworkConnector(environment: environment, provider: provider)
    }

    /// Asks for the pugs; a canceled task leaves the screen as it is.
    package func refresh() async {
        state = .loading
        do throws(ApiConnectorError) {
            let pugs: [Pug] = try await api.value(at: .list)
            state = pugs.isEmpty ? .empty : .normal(pugs)
        } catch {
            if error.kind != .cancelled { state = .error(error) }
        }
    }

    /// The line at the top.
    package var title: String {
        if case .normal(let pugs) = state { "PUG (\(pugs.count))" } else { "PUG" }
    }

    /// What stands below the title, line by line.
    package var lines: [String] {
        switch state {
        case .loading: ["LOADING…"]
        case .error(let error): ["ERROR", error.description]
        case .empty: ["EMPTY"]
        case .normal(let pugs): pugs.map { "\($0.name)  \($0.photo)" }
        }
    }
}

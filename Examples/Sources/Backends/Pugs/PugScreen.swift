// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A screen that lists pugs, as text: its lines are a function of four states.
@MainActor package final class PugScreen<Provider: DataRequestType> {
    package enum State: Sendable {
        case loading
        case error(ApiConnectorError)
        case empty
        case normal([Pug])
    }

    /// The screen's state; initially loading.
    package private(set) var state = State.loading

    private let api: NetworkConnector<Provider, PugRouter>

    /// Makes the screen; a test passes another provider.
    package init(environment: BackendEnvironment, provider: Provider) {
        api = NetworkConnector(environment: environment, provider: provider)
    }

    /// Loads the pugs; a canceled task does not change the screen.
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

    /// The lines below the title.
    package var lines: [String] {
        switch state {
        case .loading: ["LOADING…"]
        case .error(let error): ["ERROR", error.description]
        case .empty: ["EMPTY"]
        case .normal(let pugs): pugs.map { "\($0.name)  \($0.photo)" }
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// What the rest of a program knows of orders: the service of the post on decoupling.
///
/// It holds a connection and does not conform to its protocol, so that only these calls are possible.
package struct OrderService<Provider: DataRequestType>: Sendable {
    /// The order, the shop's reasons to refuse it, or what came between the two.
    package typealias Outcome = ApiOutcome<Order, [JSONAPIError]>

    private let api: NetworkConnector<Provider, OrderRouter>

    package init(environment: BackendEnvironment, provider: Provider) {
        api = NetworkConnector(environment: environment, provider: provider)
    }

    package func create(_ order: OrderRequest) async -> Outcome {
        await api.outcome(at: .create(order))
    }

    package func order(id: String) async -> Outcome {
        await api.outcome(at: .order(id: id))
    }

    /// The newest order.
    ///
    /// - Parameter redirects: What to do with the shop's redirect to it; followed by default.
    package func latest(redirects: RedirectPolicy = .standard) async -> Outcome {
        await api.outcome(at: .latest, options: CallOptions(redirects: redirects))
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The order service of the blog post on decoupling.
///
/// It holds a connection and does not conform to the connection's protocol, so that only these calls are possible.
package struct OrderService<Provider: DataRequestType>: Sendable {
    /// The order, the shop's reasons to refuse it, or a communication failure.
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
    /// - Parameter redirects: The redirect policy; by default the call follows the shop's redirect.
    package func latest(redirects: RedirectPolicy = .standard) async -> Outcome {
        await api.outcome(at: .latest, options: CallOptions(redirects: redirects))
    }
}

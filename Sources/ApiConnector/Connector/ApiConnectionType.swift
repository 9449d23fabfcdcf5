// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A connection to a backend: an environment, a router and a provider.
///
/// All calls are methods in extensions of this protocol, so your own connection types have all of them.
///
/// ```swift
/// struct ApiConnection<Provider: DataRequestType>: ApiConnectionType {
///     typealias RouterType = Router
///
///     let environment: Environment = .test
///     let provider: Provider
///
///     func allPosts(for date: Date) async throws(ApiConnectorError) -> [Post] {
///         try await value(at: .posts(for: date))
///     }
/// }
/// ```
///
/// A view model stores `any ApiConnectionType<Router>`, which has all calls. A test passes a connection with another
/// provider.
///
/// ```swift
/// @MainActor final class Feed {
///     private let api: any ApiConnectionType<Router>
///
///     init(api: any ApiConnectionType<Router>) { self.api = api }
/// }
/// ```
public protocol ApiConnectionType<RouterType>: Sendable {
    /// The provider's type; a test uses another type here.
    associatedtype RequestType: DataRequestType

    /// The router's type: the endpoints of the backend.
    associatedtype RouterType: ApiRouter

    /// The backend's environment.
    var environment: RouterType.EnvironmentType { get }

    /// The provider, which sends the requests.
    var provider: RequestType { get }

    /// The settings of all calls; by default, a ``ConnectionConfiguration`` with its default values.
    ///
    /// The options of a call override them.
    var configuration: ConnectionConfiguration { get }
}

extension ApiConnectionType {
    /// A configuration with its defaults.
    public var configuration: ConnectionConfiguration { ConnectionConfiguration() }
}

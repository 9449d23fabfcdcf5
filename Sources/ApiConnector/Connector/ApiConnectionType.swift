// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A connection to a backend: where it is, what it offers, how requests travel.
///
/// All calls are extensions of this protocol, so your own type has every one of them.
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
/// A view model stores `any ApiConnectionType<Router>`: it has all calls, and a test hands over a connection with another
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
    /// How requests travel: swap it in a test.
    associatedtype RequestType: DataRequestType

    /// What the backend offers.
    associatedtype RouterType: ApiRouter

    /// Where the backend is.
    var environment: RouterType.EnvironmentType { get }

    /// How requests travel.
    var provider: RequestType { get }

    /// What holds for every call unless its options say otherwise; a ``ConnectionConfiguration`` of defaults by
    /// default.
    var configuration: ConnectionConfiguration { get }
}

extension ApiConnectionType {
    /// The defaults.
    public var configuration: ConnectionConfiguration { ConnectionConfiguration() }
}

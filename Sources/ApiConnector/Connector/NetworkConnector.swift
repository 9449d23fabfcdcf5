// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A ready-made connection with an environment, a router and a provider.
///
/// ```swift
/// typealias Connection = NetworkConnector<SystemProvider, Router>
/// let me: User = try await Connection(environment: .production).value(at: .me)
/// ```
public struct NetworkConnector<Provider: DataRequestType, Router: ApiRouter>: ApiConnectionType {
    /// The router's type.
    public typealias RouterType = Router

    /// The backend's environment.
    public let environment: Router.EnvironmentType

    /// The provider, which sends the requests.
    public let provider: Provider

    /// The settings of all calls, which the options of a call override.
    public let configuration: ConnectionConfiguration

    /// Makes a connection with a provider.
    ///
    /// - Parameters:
    ///   - environment: The backend's environment.
    ///   - provider: The provider, which sends the requests.
    ///   - router: The router's type; can be left out if the context names it.
    ///   - configuration: The settings of all calls; the defaults by default.
    public init(
        environment: Router.EnvironmentType,
        provider: Provider,
        router: Router.Type = Router.self,
        configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) {
        self.environment = environment
        self.provider = provider
        self.configuration = configuration
    }
}

extension NetworkConnector where Provider: DefaultDataRequestType {
    /// Makes a connection, and creates the provider with its initializer without arguments.
    public init(
        environment: Router.EnvironmentType,
        configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) {
        self.init(environment: environment, provider: Provider(), configuration: configuration)
    }
}

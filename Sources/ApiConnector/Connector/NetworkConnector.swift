// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The ready-made connection.
///
/// ```swift
/// typealias Connection = NetworkConnector<SystemProvider, Router>
/// let me: User = try await Connection(environment: .production).value(at: .me)
/// ```
public struct NetworkConnector<Provider: DataRequestType, Router: ApiRouter>: ApiConnectionType {
    /// What the backend offers.
    public typealias RouterType = Router

    /// Where the backend is.
    public let environment: Router.EnvironmentType

    /// How requests travel.
    public let provider: Provider

    /// What holds for every call unless its options say otherwise.
    public let configuration: ConnectionConfiguration

    /// Makes a connection with a provider.
    ///
    /// - Parameters:
    ///   - environment: Where the backend is.
    ///   - provider: How requests travel.
    ///   - router: The router's type, where nothing else names it.
    ///   - configuration: What holds for every call; its defaults by default.
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
    /// Makes a connection whose provider the type alone names.
    public init(
        environment: Router.EnvironmentType,
        configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) {
        self.init(environment: environment, provider: Provider(), configuration: configuration)
    }
}

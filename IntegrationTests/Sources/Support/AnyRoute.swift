// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A router for calls to URLs, which do not use the router's routes.
public enum AnyRoute: String, ApiRouter {
    /// The target.
    public typealias EnvironmentType = Loopback

    case root = "/"
}

/// The environment of calls to URLs.
public enum Loopback: String, ApiEnvironment {
    case loopback = "127.0.0.1"
}

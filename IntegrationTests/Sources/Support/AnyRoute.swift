// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A router for calls at URLs, which do not use its routes.
public enum AnyRoute: String, ApiRouter {
    /// The target.
    public typealias EnvironmentType = Loopback

    case root = "/"
}

/// The environment of calls at URLs.
public enum Loopback: String, ApiEnvironment {
    case loopback = "127.0.0.1"
}

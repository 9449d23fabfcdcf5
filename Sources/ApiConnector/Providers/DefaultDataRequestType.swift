// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that can be created from its type alone, as in `NetworkConnector<SystemProvider, Router>`.
public protocol DefaultDataRequestType: DataRequestType {
    /// Makes the provider with its defaults.
    init()
}

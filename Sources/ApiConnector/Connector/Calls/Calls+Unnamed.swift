// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Without these, the compiler says "failed to produce diagnostic for expression" where the type is missing.

extension ApiConnectionType {
    /// Tells the compiler what to say of a call without a type.
    @available(*, unavailable, message: "name the value's type, as in value([Post].self, at: .posts)")
    public func value(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Never {
        throw ApiConnectorError(.invalidRequest, at: .request, "the type of the call's value is missing")
    }

    /// Tells the compiler what to say of a call without a type.
    @_disfavoredOverload
    @available(*, unavailable, message: "name the value's type, as in value([Post].self, at: url)")
    public func value(
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Never {
        throw ApiConnectorError(.invalidRequest, at: .request, "the type of the call's value is missing")
    }
}

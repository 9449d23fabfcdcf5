// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Without these functions, the compiler reports "failed to produce diagnostic for expression" if the type is missing.

extension ApiConnectionType {
    /// Produces the compiler's message for a call without a type.
    @available(*, unavailable, message: "name the value's type, as in value([Post].self, at: .posts)")
    public func value(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async throws(ApiConnectorError) -> Never {
        throw ApiConnectorError(.invalidRequest, at: .request, "the type of the call's value is missing")
    }

    /// Produces the compiler's message for a call without a type.
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

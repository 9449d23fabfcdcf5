// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Without these functions, the compiler reports "failed to produce diagnostic for expression" or "generic parameter
// 'Value' could not be inferred" if the type is missing. If the context names a type, the compiler uses other functions.

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

    /// Produces the compiler's message for a call without a type.
    @available(*, unavailable, message: "name the value's type, as in outcome([Post].self, at: .posts)")
    public func outcome(
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) async -> ApiOutcome<Never, RouterType.EnvelopeType.Failure> {
        await outcome(Never.self, at: route, options: options)
    }

    /// Produces the compiler's message for a stream without a type.
    @available(*, unavailable, message: "name the values' type, as in stream(of: Post.self, at: .posts)")
    public func stream(at route: RouterType, options: CallOptions = CallOptions()) -> ResponseStream<Never> {
        stream(of: Never.self, at: route, options: options)
    }

    /// Produces the compiler's message for pages without a type.
    @available(*, unavailable, message: "name the pages' type, as in pages(of: [Post].self, from: .posts)")
    public func pages(
        from route: RouterType,
        prefetching: Bool = false,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Never> {
        pages(of: Never.self, from: route, prefetching: prefetching, options: options)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that changes each request by a closure; made by ``DataRequestType/rewriting(_:)``.
struct Rewriting<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let rewrite: @Sendable (inout ApiRequest) async throws -> Void

    init(_ wrapped: Wrapped, _ rewrite: @escaping @Sendable (inout ApiRequest) async throws -> Void) {
        self.wrapped = wrapped
        self.rewrite = rewrite
    }

    /// Sends the changed request by the wrapped provider.
    ///
    /// - Throws: What the wrapped provider throws; for an error of the closure as ``ApiConnectorError/mapping(_:_:)``
    ///   does.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var changed = request
        do {
            try await rewrite(&changed)
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
        return try await wrapped.response(for: changed)
    }
}

extension DataRequestType {
    /// This provider, with a closure that may change each request before it is sent.
    ///
    /// ```swift
    /// let provider = SystemProvider().rewriting { request in
    ///     request.headers["X-Request-Id"] = UUID().uuidString
    /// }
    /// ```
    ///
    /// Each hop of a redirect and, inside a retrying provider, each attempt is its own request. An error that the
    /// closure throws fails the call, and nothing is sent. A closure that waits heeds its task's cancel by itself.
    ///
    /// A secret that the closure sets in a request to another origin than the connection's has no effect. Set it with
    /// ``ApiRequest/setCredentials(for:_:)`` if it is for that origin, too.
    public func rewriting(
        _ rewrite: @escaping @Sendable (inout ApiRequest) async throws -> Void
    ) -> some DataRequestType {
        Rewriting(self, rewrite)
    }
}

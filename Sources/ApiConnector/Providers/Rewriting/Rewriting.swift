// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that changes each request with a closure; made by ``DataRequestType/rewriting(_:)``.
struct Rewriting<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let rewrite: @Sendable (inout ApiRequest) async throws -> Void

    init(_ wrapped: Wrapped, _ rewrite: @escaping @Sendable (inout ApiRequest) async throws -> Void) {
        self.wrapped = wrapped
        self.rewrite = rewrite
    }

    /// Sends the changed request with the wrapped provider.
    ///
    /// - Throws: The error of the wrapped provider, or the closure's error, converted as in
    ///   ``ApiConnectorError/mapping(_:_:)``.
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
    /// Returns a provider that changes each request with a closure before it is sent.
    ///
    /// ```swift
    /// let provider = SystemProvider().rewriting { request in
    ///     request.headers["X-Request-Id"] = UUID().uuidString
    /// }
    /// ```
    ///
    /// The closure is called for each hop of a redirect, and inside a retrying provider for each attempt. If the
    /// closure throws an error, the call fails and nothing is sent. A closure that waits has to respond to its task's
    /// cancellation itself.
    ///
    /// If a request goes to an origin other than the connection's, a secret that the closure sets is not sent. To send
    /// a secret to such an origin, set it with ``ApiRequest/setCredentials(for:_:)``.
    public func rewriting(
        _ rewrite: @escaping @Sendable (inout ApiRequest) async throws -> Void
    ) -> some DataRequestType {
        Rewriting(self, rewrite)
    }
}

/// A provider that adds header fields to each request; made by ``DataRequestType/addingHeaders(_:)``.
struct WithHeaders<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let headers: HTTPHeaders

    init(_ wrapped: Wrapped, _ headers: HTTPHeaders) {
        self.wrapped = wrapped
        self.headers = headers
    }

    /// Sends the request with the added fields.
    ///
    /// - Throws: The error of the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.headers = headers.merging(request.headers)
        return try await wrapped.response(for: request)
    }
}

extension DataRequestType {
    /// Returns a provider that adds header fields to each request, unless the request has fields of the same names.
    ///
    /// ```swift
    /// let provider = SystemProvider().addingHeaders(["X-App": "blog/2.1"])
    /// ```
    ///
    /// A field with a secret name is only sent to the origin of the connection's environment, like the connection's own
    /// header fields. For credentials, use ``authenticating(by:for:)``.
    public func addingHeaders(_ headers: HTTPHeaders) -> some DataRequestType {
        WithHeaders(self, headers)
    }
}

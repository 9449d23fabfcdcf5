// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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

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

    /// Sends the request with the fields by the wrapped provider.
    ///
    /// - Throws: What the wrapped provider throws.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.headers = headers.merging(request.headers)
        return try await wrapped.response(for: request)
    }
}

extension DataRequestType {
    /// This provider, with header fields that each request has unless it has others of the same names.
    ///
    /// ```swift
    /// let provider = SystemProvider().addingHeaders(["X-App": "blog/2.1"])
    /// ```
    ///
    /// A field whose name says that it is secret goes to the origin of the connection's environment only, as with the
    /// connection's own header fields; ``authenticating(by:for:)`` is made for credentials.
    public func addingHeaders(_ headers: HTTPHeaders) -> some DataRequestType {
        WithHeaders(self, headers)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that sends some requests through other providers, by a closure or by origin; made by `routing(_:)`.
struct Routed<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let choose: @Sendable (ApiRequest) -> (any DataRequestType)?

    init(_ wrapped: Wrapped, _ choose: @escaping @Sendable (ApiRequest) -> (any DataRequestType)?) {
        self.wrapped = wrapped
        self.choose = choose
    }

    /// Sends the request through the provider chosen for it, otherwise through the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard let chosen = choose(request) else { return try await wrapped.response(for: request) }
        return try await chosen.response(for: request)
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to send the requests that a closure selects through other providers.
    ///
    /// ```swift
    /// let uploads = SystemProvider().limiting(RequestLimit(concurrent: 2))
    /// let provider = SystemProvider().retrying().routing { $0.routeName == "upload" ? uploads : nil }
    /// ```
    ///
    /// Each hop of a redirect is its own request.
    ///
    /// - Parameter choose: Returns the provider for a request; nil means this provider.
    public func routing(_ choose: @escaping @Sendable (ApiRequest) -> (any DataRequestType)?) -> some DataRequestType {
        Routed(self, choose)
    }

    /// Returns this provider, wrapped to send requests to some hosts through other providers.
    ///
    /// - Parameter origins: The providers by origin; of each URL only scheme, host and port are used.
    public func routing(_ origins: [URL: any DataRequestType]) -> some DataRequestType {
        let pairs = origins.compactMap { url, provider in HTTPOrigin(url).map { ($0, provider) } }
        let providers = Dictionary(pairs) { first, _ in first }
        return Routed(self) { request in HTTPOrigin(request.url).flatMap { providers[$0] } }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The transport that is best on this system: `CurlProvider` on Linux, ``URLSessionProvider`` elsewhere.
///
/// All values made by ``init()`` share one pool of connections. On Linux the package's trait `Curl`, on by default, can
/// be switched off for a build without libcurl.so.4; then it is ``URLSessionProvider`` there, too.
public struct SystemProvider: DefaultDataRequestType {
    #if Curl && os(Linux)
    private typealias Transport = CurlProvider
    #else
    private typealias Transport = URLSessionProvider
    #endif

    private let transport: Transport

    /// Makes the provider with its defaults.
    public init() {
        transport = Transport()
    }

    /// Makes a provider with a thread or session of its own, and connections that no other provider shares.
    ///
    /// ``TransportConfiguration`` lists what each platform can do. What this one cannot fails each call with kind
    /// `.invalidRequest`.
    public init(configuration: TransportConfiguration) {
        #if Curl && os(Linux)
        transport = CurlProvider(configuration: CurlConfiguration(configuration))
        #else
        transport = URLSessionProvider(configuration: configuration)
        #endif
    }

    /// Sends a request and hands back what came.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled`, and at once, when the task is canceled.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await transport.response(for: request)
    }
}

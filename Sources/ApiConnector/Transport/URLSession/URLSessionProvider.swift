// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The transport over a `URLSession`, of your choosing or its own.
///
/// It delivers every response as it is and follows no redirect. The page "URLSession on Linux" lists each hazard of
/// URLSession on Linux, and what this provider does about it. The names M1 to M21 and R1 to R10 in the code are from that
/// page.
public struct URLSessionProvider: DefaultDataRequestType {
    private let owner: URLSessionOwner

    /// Makes the provider over one session for all providers made this way: ephemeral, without cache, cookies and
    /// stored credentials.
    public init() {
        owner = .shared
    }

    /// Makes the provider over a session of its own, which ends with the last copy of the provider.
    ///
    /// The configuration's request timeout is not used: how long a call may take is the connection's to say. On Linux
    /// its cache is not used either (M19).
    public init(configuration: URLSessionConfiguration) {
        owner = URLSessionOwner(configuration: configuration)
    }

    /// Makes the provider over a session of its own for a portable configuration.
    ///
    /// What this platform's `URLSession` cannot do fails each call with kind `.invalidRequest`.
    public init(configuration: TransportConfiguration) {
        owner = URLSessionOwner(
            configuration: .transport(configuration),
            pins: URLSessionPins(keys: configuration.pinnedPublicKeys),
            refusal: configuration.sessionRefusal
        )
    }

    #if !canImport(FoundationNetworking)
    /// Makes the provider over a session of its own that talks only to servers whose public key is pinned.
    ///
    /// Keys of RSA and of the curves P-256, P-384 and P-521 can be pinned; a server with another kind of key is
    /// refused. A refused server fails the call with kind `.secureConnectionFailed`. Not on Linux, where Foundation
    /// never asks about a server's key; `CurlProvider` pins keys there.
    public init(configuration: URLSessionConfiguration, pinnedPublicKeys: Set<PublicKeyPin>) {
        owner = URLSessionOwner(configuration: configuration, pins: URLSessionPins(keys: pinnedPublicKeys))
    }
    #endif

    /// Makes the provider over a session of yours; it is yours to invalidate.
    ///
    /// The session's delegate is asked nothing that concerns the provider's tasks. On Linux, where only a session's
    /// delegate learns of redirects (M13), the provider makes a session of its own with the same configuration instead.
    public init(session: URLSession) {
        #if canImport(FoundationNetworking)
        self.init(configuration: session.configuration)
        #else
        owner = URLSessionOwner(session: session)
        #endif
    }

    /// Whether a task that has not ended is a provider's, for a `URLProtocol` or a session's delegate of yours that sees
    /// others, too.
    ///
    /// The provider answers each of its tasks' challenges itself, and none with a credential.
    public static func isBehind(_ task: URLSessionTask) -> Bool {
        task.delegate is URLSessionExchange
    }

    /// The most bytes of a streamed request body that are read into memory: 16 MiB.
    private static let streamedBodyByteCount = 16 << 20

    /// Sends a request over the session, and collects the body unless it is to be streamed.
    ///
    /// A cancelled task is answered at once; the connection is closed behind it. A streamed response may be 16 MiB
    /// ahead of its reader; past that the call fails with kind `.bodyTooLarge`. The body of a request that comes from a
    /// file or a source is read into memory first (R2), and refused past 16 MiB.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await request.limitingTime { (request) throws(ApiConnectorError) in try await exchange(request) }
    }

    private func exchange(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        if let refusal = owner.refusal {
            throw ApiConnectorError(.invalidRequest, refusal, request: request).advising("Nothing was sent.")
        }
        let request = try await request.collectingBody(upTo: Self.streamedBodyByteCount)
        var sessionRequest = try URLRequest(request)
        if !request.headers.contains(.userAgent) {
            let name = HTTPHeaders.Name.userAgent.rawValue
            sessionRequest.setValue(HTTPHeaders.standardUserAgent, forHTTPHeaderField: name)
        }
        let task = owner.session.dataTask(with: sessionRequest)
        let mayDependOnStoredCookies = owner.hasCookies(for: request.url)
        let exchange = URLSessionExchange(request: request, task: task, pins: owner.pins)
        let outcome = await request.withStopHandler {
            await withUnsafeContinuation { exchange.start(reporting: $0) }
        } onStop: {
            exchange.stop($0)
        }
        let answer = try outcome.get()
        var response = ApiResponse(to: request, head: answer.head, body: answer.body)
        // Another call may have stored cookies before the session sent this one.
        response.mayDependOnStoredCookies = mayDependOnStoredCookies || owner.hasCookies(for: request.url)
        return response
    }
}

/// Keeps a session, and ends it if it is the provider's own.
private final class URLSessionOwner: Sendable {
    let session: URLSession
    let pins: URLSessionPins
    /// What the configuration asks for and this platform cannot do; nil for nothing.
    let refusal: String?
    private let isOwned: Bool
    /// Where the session takes cookies from; nil where it sends none of its own.
    private let cookies: HTTPCookieStorage?

    static let shared = URLSessionOwner(configuration: .plain)

    init(session: URLSession) {
        self.session = session
        cookies = session.configuration.cookiesToSend
        pins = URLSessionPins(keys: [])
        refusal = nil
        isOwned = false
    }

    init(
        configuration: URLSessionConfiguration,
        pins: URLSessionPins = URLSessionPins(keys: []),
        refusal: String? = nil
    ) {
        self.pins = pins
        self.refusal = refusal
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        configuration.timeoutIntervalForRequest = URLRequest.noTimeout
        #if canImport(FoundationNetworking)
        // M19: a cancel that comes while the cache is asked may end the process.
        configuration.urlCache = nil
        #endif
        cookies = configuration.cookiesToSend
        session = URLSession(
            configuration: configuration,
            delegate: URLSessionForwarder(),
            delegateQueue: .forCallbacks
        )
        isOwned = true
    }

    /// Whether the session has cookies that it adds to a request.
    func hasCookies(for url: URL) -> Bool {
        cookies?.cookies(for: url)?.isEmpty == false
    }

    deinit {
        guard isOwned else { return }
        // M5: never from a deinit itself, which may run on the session's own queue.
        DispatchQueue.global().async { [session] in session.finishTasksAndInvalidate() }
    }
}

extension URLSessionConfiguration {
    fileprivate var cookiesToSend: HTTPCookieStorage? { httpShouldSetCookies ? httpCookieStorage : nil }

    /// Nothing kept between requests but connections; on Linux also about 15 % faster (M12).
    static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

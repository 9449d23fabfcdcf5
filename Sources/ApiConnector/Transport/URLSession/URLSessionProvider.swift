// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if canImport(Security)
public import Security
#endif

/// The transport with a `URLSession`: your own, or one that the provider creates.
///
/// It returns every response unchanged and follows no redirects. The page "URLSession on Linux" lists the hazards of
/// URLSession on Linux, and how this provider handles them. The names M1 to M21 and R1 to R16 in the code are from that
/// page. The page "URLSession on Apple's systems" lists the differences there.
public struct URLSessionProvider: DefaultDataRequestType {
    private let owner: URLSessionOwner

    /// Makes a provider with an ephemeral session that all such providers share, without a cache, cookies or stored
    /// credentials.
    public init() {
        owner = .shared
    }

    /// Makes a provider with its own session, which ends with the last copy of the provider.
    ///
    /// The configuration's request timeout is not used, because the connection sets the time limits. On Linux, its
    /// cache is not used either (M19). A configuration for background sessions is refused: each call fails with kind
    /// `.invalidRequest`.
    public init(configuration: URLSessionConfiguration) {
        owner = URLSessionOwner(configuration: configuration)
    }

    /// Makes a provider with its own session and a portable configuration.
    ///
    /// With a setting that this platform's `URLSession` does not support, each call fails with kind `.invalidRequest`.
    public init(configuration: TransportConfiguration) {
        owner = URLSessionOwner(
            configuration: .transport(configuration),
            pins: URLSessionPins(keys: configuration.pinnedPublicKeys),
            refusal: configuration.sessionRefusal
        )
    }

    #if canImport(Security)
    /// Responds to an authentication challenge of a session.
    public typealias ChallengeHandler =
        @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Makes a provider with its own session that responds to authentication challenges.
    ///
    /// This initializer is not available on Linux, where Foundation sends no challenges about a server's key or a
    /// client certificate; use `CurlProvider` there.
    ///
    /// A server whose key is not pinned fails the call with kind `.secureConnectionFailed`. RSA keys and keys on the
    /// curves P-256, P-384 and P-521 can be pinned; a server with another kind of key is rejected.
    ///
    /// - Parameters:
    ///   - pinnedPublicKeys: The pinned keys, of which a server must have one; empty by default, which accepts any key.
    ///   - clientCertificate: The certificate for a server that requests one; nil by default.
    ///   - challengeHandler: Responds to all other challenges. With nil, the default, the system evaluates the server's
    ///     certificate, and a 401 or 407 is the response.
    public init(
        configuration: URLSessionConfiguration,
        pinnedPublicKeys: Set<PublicKeyPin> = [],
        clientCertificate: SecIdentity? = nil,
        challengeHandler: ChallengeHandler? = nil
    ) {
        let credential = clientCertificate.map {
            URLCredential(identity: $0, certificates: nil, persistence: .forSession)
        }
        owner = URLSessionOwner(
            configuration: configuration,
            pins: URLSessionPins(keys: pinnedPublicKeys),
            challenges: URLSessionChallenges(clientCredential: credential, handler: challengeHandler)
        )
    }
    #endif

    /// Makes a provider with your own session, which you have to invalidate yourself.
    ///
    /// On Apple's systems, the session's delegate responds to authentication challenges. It receives no other callbacks
    /// of the provider's tasks. On Linux, where redirects are only reported to the session's delegate (M13), the
    /// provider creates its own session with the same configuration instead.
    ///
    /// A background session is refused: each call fails with kind `.invalidRequest`.
    public init(session: URLSession) {
        #if canImport(FoundationNetworking)
        self.init(configuration: session.configuration)
        #else
        owner = URLSessionOwner(session: session)
        #endif
    }

    /// Whether a running task belongs to a provider, for your own `URLProtocol` or session delegate that also handles
    /// other tasks.
    ///
    /// The provider itself responds to the challenges of its tasks. It only uses a credential if the provider was made
    /// with a client certificate, a challenge handler, or a session whose delegate responds to challenges.
    public static func isBehind(_ task: URLSessionTask) -> Bool {
        task.delegate is URLSessionExchange
    }

    /// The maximum size of a streamed request body that is read into memory: 16 MiB.
    private static let streamedBodyByteCount = 16 << 20

    /// Sends a request over the session, and collects the body unless the request wants it streamed.
    ///
    /// A cancellation ends the call immediately; the connection is closed afterwards.
    ///
    /// - On Linux, a streamed response can be 16 MiB ahead of its reader; beyond that, the call fails with kind
    ///   `.bodyTooLarge`. A request body from a file or a source is first read into memory (R2), and must not exceed 16
    ///   MiB. The time limits include the reading.
    /// - On Apple's systems, a task is suspended when its reader is 1 MiB behind, until it has caught up. Files and
    ///   sources are sent as they are read. A GET with a body fails with kind `.invalidRequest`.
    ///
    /// The response's ``ApiResponse/times`` are the task's metrics on Apple's systems. Linux has no metrics, so they
    /// are nil there.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await request.withTimeLimitsInlined { (request) throws(ApiConnectorError) in try await exchange(request) }
    }

    private func exchange(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let system = URLSessionSystem.current
        if let reason = owner.refusal ?? system.refusal(of: request) {
            throw ApiConnectorError(.invalidRequest, at: .request, reason, request: request)
                .advising("Nothing was sent.")
        }
        let request =
            system.streamsRequestBodies ? request : try await request.collectingBody(upTo: Self.streamedBodyByteCount)
        var sessionRequest = request.body.isStreamed ? try URLRequest(headOf: request) : try URLRequest(request)
        if !request.headers.contains(.userAgent) {
            let name = HTTPHeaders.Name.userAgent.rawValue
            sessionRequest.setValue(HTTPHeaders.standardUserAgent, forHTTPHeaderField: name)
        }
        let task = owner.session.task(sessionRequest, sending: request.body)
        let mayDependOnStoredCookies = owner.hasCookies(for: request.url)
        let exchange = URLSessionExchange(request: request, task: task, pins: owner.pins, challenges: owner.challenges)
        let outcome = await request.withStopHandler {
            await withUnsafeContinuation { exchange.start(reporting: $0) }
        } readPending: { [queue = owner.session.delegateQueue] completion in
            // After the process was suspended, callbacks may still wait in the queue. They run before this operation.
            queue.addOperation { completion() }
        } onStop: {
            exchange.stop($0)
        }
        let arrival = try outcome.get()
        var response = ApiResponse(to: request, head: arrival.head, body: arrival.body)
        response.timesRecord = exchange.timesRecord
        // Another call may have stored cookies before the session sent this request.
        response.mayDependOnStoredCookies = mayDependOnStoredCookies || owner.hasCookies(for: request.url)
        return response
    }
}

/// Owns a session, and invalidates it if the provider created it.
private final class URLSessionOwner: Sendable {
    let session: URLSession
    let pins: URLSessionPins
    let challenges: URLSessionChallenges
    /// Why no request can be sent over the session; nil if requests can be sent.
    let refusal: String?
    private let isOwned: Bool
    private let cookies: SessionCookies

    static let shared = URLSessionOwner(configuration: .plain)

    init(session: URLSession) {
        self.session = session
        cookies = SessionCookies(session.configuration)
        pins = URLSessionPins(keys: [])
        challenges = URLSessionChallenges()
        refusal = session.configuration.refusal
        isOwned = false
    }

    init(
        configuration: URLSessionConfiguration,
        pins: URLSessionPins = URLSessionPins(keys: []),
        challenges: URLSessionChallenges = URLSessionChallenges(),
        refusal: String? = nil
    ) {
        self.pins = pins
        self.challenges = challenges
        self.refusal = refusal ?? configuration.refusal
        // A second session with the identifier of a background session is undefined behavior.
        let original = configuration.refusal == nil ? configuration : .plain
        let configuration = original.copy() as? URLSessionConfiguration ?? original
        configuration.timeoutIntervalForRequest = URLRequest.noTimeout
        #if canImport(FoundationNetworking)
        // M19: a cancellation during the cache lookup may crash the process.
        configuration.urlCache = nil
        #endif
        cookies = SessionCookies(configuration)
        session = URLSession(
            configuration: configuration,
            delegate: URLSessionForwarder(),
            delegateQueue: .forCallbacks
        )
        isOwned = true
    }

    /// Whether the session has cookies for a request.
    func hasCookies(for url: URL) -> Bool {
        cookies.storage?.cookies(for: url)?.isEmpty == false
    }

    deinit {
        guard isOwned else { return }
        // M5: not called directly in the deinit, which may run on the session's own queue.
        DispatchQueue.global().async { [session] in session.finishTasksAndInvalidate() }
    }
}

/// The storage of the cookies that a session sends.
///
/// Unchecked, because not every SDK declares the class `Sendable`. A storage is thread-safe: sessions read and write it
/// on their own threads, too.
private struct SessionCookies: @unchecked Sendable {
    /// Nil for a session that sends no stored cookies.
    let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }
}

extension URLSessionConfiguration {
    /// Why no request can be sent over a session with this configuration.
    fileprivate var refusal: String? {
        guard identifier != nil else { return nil }
        return "its session is a background session, which transfers files while no call waits for them; use a "
            + "configuration of .default or .ephemeral"
    }

    /// A configuration that keeps only connections between requests; on Linux, it is also about 15 % faster (M12).
    static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

extension URLSession {
    /// Makes the task for a request: an upload task if the body is streamed.
    fileprivate func task(_ request: URLRequest, sending body: RequestBody) -> URLSessionDataTask {
        guard let source = body.source else { return dataTask(with: request) }
        guard let file = source.file else { return uploadTask(withStreamedRequest: request) }
        return uploadTask(with: request, fromFile: file)
    }
}

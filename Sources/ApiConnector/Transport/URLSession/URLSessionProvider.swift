// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if canImport(Security)
public import Security
#endif

/// The transport over a `URLSession`, of your choosing or its own.
///
/// It delivers every response as it is and follows no redirect. The page "URLSession on Linux" lists each hazard of
/// URLSession on Linux, and what this provider does about it. The names M1 to M21 and R1 to R10 in the code are from that
/// page. The page "URLSession on Apple's systems" lists what differs there.
public struct URLSessionProvider: DefaultDataRequestType {
    private let owner: URLSessionOwner

    /// Makes the provider over one session for all providers made this way: ephemeral, without cache, cookies and
    /// stored credentials.
    public init() {
        owner = .shared
    }

    /// Makes the provider over its own session, which ends with the last copy of the provider.
    ///
    /// The configuration's request timeout is not used: how long a call may take is the connection's to say. On Linux
    /// its cache is not used either (M19). A configuration of background sessions is refused: each call fails with kind
    /// `.invalidRequest`.
    public init(configuration: URLSessionConfiguration) {
        owner = URLSessionOwner(configuration: configuration)
    }

    /// Makes the provider over its own session for a portable configuration.
    ///
    /// What this platform's `URLSession` cannot do fails each call with kind `.invalidRequest`.
    public init(configuration: TransportConfiguration) {
        owner = URLSessionOwner(
            configuration: .transport(configuration),
            pins: URLSessionPins(keys: configuration.pinnedPublicKeys),
            refusal: configuration.sessionRefusal
        )
    }

    #if canImport(Security)
    /// Answers an authentication challenge of a session.
    public typealias ChallengeHandler =
        @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// Makes the provider over its own session that answers authentication challenges.
    ///
    /// Not on Linux, where Foundation never asks about a server's key or for a certificate; `CurlProvider` does both there.
    ///
    /// A server whose key is not pinned fails the call with kind `.secureConnectionFailed`. Keys of RSA and of the curves
    /// P-256, P-384 and P-521 can be pinned; a server with another kind of key is refused.
    ///
    /// - Parameters:
    ///   - pinnedPublicKeys: The public keys of which a server must have one. Empty, the default, pins none.
    ///   - clientCertificate: What the client shows to a server that asks for a certificate; nil, nothing, by default.
    ///   - challengeHandler: Answers all other challenges. With nil, the default, the system decides about the server's
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

    /// Makes the provider over a session of yours; it is yours to invalidate.
    ///
    /// On Apple's systems, the session's delegate answers authentication challenges. It is asked nothing else that
    /// concerns the provider's tasks. On Linux, where only a session's delegate learns of redirects (M13), the provider
    /// makes its own session with the same configuration instead.
    ///
    /// A background session is refused: each call fails with kind `.invalidRequest`.
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
    /// The provider answers each of its tasks' challenges itself, and none with a credential, unless it was made with a
    /// client certificate, with a handler of challenges, or over a session whose delegate answers them.
    public static func isBehind(_ task: URLSessionTask) -> Bool {
        task.delegate is URLSessionExchange
    }

    /// The most bytes of a streamed request body that are read into memory: 16 MiB.
    private static let streamedBodyByteCount = 16 << 20

    /// Sends a request over the session, and collects the body unless it is to be streamed.
    ///
    /// A canceled task is answered at once; the connection is closed after it.
    ///
    /// On Linux, a streamed response may be 16 MiB ahead of its reader; past that the call fails with kind
    /// `.bodyTooLarge`. The body of a request that comes from a file or a source is read into memory first (R2), and
    /// refused past 16 MiB.
    ///
    /// On Apple's systems, a task whose reader is 1 MiB behind is suspended until the reader has caught up. Files and
    /// sources are sent as they are read. A GET with a body is refused with kind `.invalidRequest`.
    ///
    /// The response's ``ApiResponse/times`` are the task's metrics on Apple's systems. Linux has none, so they are nil there.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await request.limitingTime { (request) throws(ApiConnectorError) in try await exchange(request) }
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
            // Callbacks that wait in the queue run before: a process that was suspended has not run them.
            queue.addOperation { completion() }
        } onStop: {
            exchange.stop($0)
        }
        let answer = try outcome.get()
        var response = ApiResponse(to: request, head: answer.head, body: answer.body)
        response.timesRecord = exchange.timesRecord
        // Another call may have stored cookies before the session sent this one.
        response.mayDependOnStoredCookies = mayDependOnStoredCookies || owner.hasCookies(for: request.url)
        return response
    }
}

/// Keeps a session, and ends it if it is the provider's own.
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
        // A second session with the identifier of a background session would be undefined.
        let original = configuration.refusal == nil ? configuration : .plain
        let configuration = original.copy() as? URLSessionConfiguration ?? original
        configuration.timeoutIntervalForRequest = URLRequest.noTimeout
        #if canImport(FoundationNetworking)
        // M19: a cancel that comes while the cache is asked may end the process.
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

    /// Whether the session has cookies that it adds to a request.
    func hasCookies(for url: URL) -> Bool {
        cookies.storage?.cookies(for: url)?.isEmpty == false
    }

    deinit {
        guard isOwned else { return }
        // M5: never from a deinit itself, which may run on the session's own queue.
        DispatchQueue.global().async { [session] in session.finishTasksAndInvalidate() }
    }
}

/// The storage from which a session takes the cookies that it sends.
///
/// Unchecked: sessions read and write a storage on their own threads. Not every SDK declares the class `Sendable`.
private struct SessionCookies: @unchecked Sendable {
    /// Nil for a session that sends no cookies of its own.
    let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }
}

extension URLSessionConfiguration {
    /// Why no request can be sent over a session of this configuration.
    fileprivate var refusal: String? {
        guard identifier != nil else { return nil }
        return "its session is a background session, which transfers files while no call waits for them; use a "
            + "configuration of .default or .ephemeral"
    }

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

extension URLSession {
    /// Makes the task for a request: an upload task where the body is streamed.
    fileprivate func task(_ request: URLRequest, sending body: RequestBody) -> URLSessionDataTask {
        guard let source = body.source else { return dataTask(with: request) }
        guard let file = source.file else { return uploadTask(withStreamedRequest: request) }
        return uploadTask(with: request, fromFile: file)
    }
}

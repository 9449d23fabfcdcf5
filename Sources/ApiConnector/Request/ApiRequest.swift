// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A request as it travels through providers to a transport.
///
/// A value: a wrapper changes its copy and hands that on.
public struct ApiRequest: Sendable {
    /// Where it goes; http or https.
    ///
    /// A wrapper that sets a URL of another origin leaves the request's secrets behind: header fields that
    /// ``Redactor/standard`` knows, and the query items and user info of the earlier URL. ``moved(to:showingCredentialsTo:)``
    /// takes them along to the origins that may see them.
    public var url: URL {
        get { location }
        set {
            let old = location
            location = newValue
            if credentialGuard != nil || context?.environment != nil { leaveSecretsBehind(at: old) }
        }
    }

    /// The URL, for a change that decides itself which secrets go along.
    var location: URL { didSet { isKnownSendable = false } }

    /// The method; ``HTTPMethod/get`` by default.
    public var method: HTTPMethod { didSet { isKnownSendable = false } }

    /// The header fields; none by default.
    ///
    /// A transport adds what HTTP demands, such as `Host` and `Content-Length`.
    public var headers: HTTPHeaders {
        didSet {
            isKnownSendable = false
            if credentialGuard != nil { headers = admittedHeaders }
        }
    }

    /// What is sent; ``RequestBody/empty`` by default.
    public var body: RequestBody

    /// How the caller wants the response's body; collected, up to 64 MiB, by default.
    public var delivery: ResponseDelivery

    /// Which attempt this is, counted from 1.
    public var attempt: Int

    /// When the whole call has to be over, on the scale of the connection's time source; nil for no limit.
    ///
    /// Everything that waits keeps to it; your own wrapper that waits should too.
    public var deadline: Duration?

    /// How long one attempt may take, and how long the transport may be silent; no limit for a request made by hand.
    ///
    /// Each transport applies them again to each request that it gets. So a wrapper that sends a request again needs to
    /// do nothing, and one that wants other limits sets them. ``Timeouts/overall`` is ignored here: ``deadline`` is
    /// where the call's own limit stands.
    public var timeouts: Timeouts {
        get { limits?.timeouts ?? Timeouts() }
        set { limits = AttemptLimits(newValue.applied) }
    }

    /// What the call hands to the providers; nothing by default.
    public var values = RequestValues()

    /// Which secrets it may show; nil for any.
    var credentialGuard: CredentialGuard?

    /// Whether it was checked as it is now, so that a transport need not do it again.
    var isKnownSendable = false

    /// What is due when, for all requests of the connection; nil for a request made by hand.
    var timers: TimerQueue?

    /// What came before this attempt; nil where it is the first.
    var history: AttemptHistory?

    /// Behind ``timeouts``; nil for no limit.
    var limits: AttemptLimits?

    /// The connection's encoder and decoder; nil for a request made by hand.
    var coders: JSONCoders?

    /// What ends this attempt when a limit of time is reached; nil outside of ``withTimeLimits(_:)``.
    var watch: AttemptWatch?

    /// What it shares with the call's other requests; nil for one made by hand that no wrapper has taken up.
    var context: CallContext?

    /// What its observers are told by; nil where nobody observes.
    var events: CallEvents?

    /// What is secret in it beside what every redactor knows; nil for nothing.
    var ownSecrets: OwnSecrets?

    /// Where a provider that waits takes the time from: the connection's, and the machine's for a request made by hand.
    ///
    /// ``deadline`` is on its scale.
    public var timeSource: any TimeSource {
        get { timerQueue.timeSource }
        set { timers = TimerQueue.on(newValue) }
    }

    var timerQueue: TimerQueue { timers ?? .system }

    /// Makes a request, for use without a connection.
    ///
    /// Only the URL has no default. The route is nil for a request made by hand.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty,
        delivery: ResponseDelivery = .standard,
        route: (any ApiRouter)? = nil
    ) {
        location = url
        self.method = method
        self.headers = headers
        self.body = body
        self.delivery = delivery
        self.attempt = 1
        self.context = route.map { CallContext(route: $0) }
        values.joinCurrentRefresh()
    }

    /// Who goes first where requests wait for each other; ``CallPriority/normal`` by default.
    public var priority: CallPriority {
        get { values.priority }
        set { values.priority = newValue }
    }

    /// What is told how many bytes of the body were sent; nil, nothing, by default.
    ///
    /// A wrapper that sends the request twice at the same time sets it to nil for one of the two.
    public var uploadProgress: UploadProgress? {
        get { values.uploadProgress }
        set { values.uploadProgress = newValue }
    }

    /// The route that it was made of; nil for a request made by hand.
    public var route: (any ApiRouter)? { context?.route }

    /// What the route is called in logs and metrics, low in cardinality; nil for a request made by hand.
    ///
    /// An ``ApiPath``'s own text with `{}` for each value, such as `/authors/{}/posts/{}`; for a `String` path the enum
    /// case's name. Computed again each time.
    public var routeName: String? { context?.route?.routeName }
}

extension ApiRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL, with secrets replaced.
    public var description: String {
        "\(method) \(redactor.redact(url))"
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Something that happened to a call, as ``CallObserver/handle(_:)`` is told it.
///
/// It shows no secret: the request that it is about is shown redacted only. Its texts are made when they are asked for.
public struct CallEvent: Sendable {
    /// The call: the same for all its attempts and redirects.
    public var call: CallID { context.id(random: random) }

    private let context: CallContext
    private let random: @Sendable () -> UInt64

    /// Which attempt it is about, counted from 1; `started` and `finished` of one pair have the same.
    public let attempt: Int

    /// When it happened, on the scale of the observer's time source.
    public let time: Duration

    /// What happened.
    public let kind: Kind

    let request: ApiRequest

    /// - Parameter random: What the call's id is made of, if nobody has asked for it before.
    init(
        of request: ApiRequest,
        in context: CallContext,
        attempt: Int,
        time: Duration,
        kind: Kind,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.context = context
        self.random = random
        self.attempt = attempt
        self.time = time
        self.kind = kind
        // An observer may keep its events, and what the request reports to holds the observer.
        var request = request
        request.events = nil
        request.watch = nil
        self.request = request
    }

    /// What can happen; further cases may come, so a switch should have a default.
    ///
    /// The decisions of the module `ApiConnectorTraffic` are among them, so that an observer sees every call without it. A wrapper
    /// of your own may report them, too.
    public enum Kind: Sendable {
        /// A request passed the observer on its way out: the first event of a pair.
        case started

        /// A retrying provider further in sends the request, the first time or again.
        case attemptStarted

        /// The response's head came.
        case head(HTTPStatus)

        /// The number of bytes of the body that arrived, or that the reader of a stream got.
        case bytes(count: Int)

        /// A retrying provider further in waits, and sends the request again; the reason is one of a few fixed words.
        ///
        /// A stream that is resumed reports it, too, after the `finished` of the connection that broke off.
        case retrying(after: Duration, because: String)

        /// Where the time of an attempt went that a retrying provider further in follows by another one.
        ///
        /// ``CallTotals/times`` has the times of the last one.
        indirect case attemptTimed(TransportTimes)

        /// A retrying provider further in leaves it at a failure; the reason is one of a few fixed words.
        ///
        /// So does a stream that is not resumed again, after the `finished` of its last connection.
        case notRetrying(because: String)

        /// The connection follows a redirect to this address, in which secrets are replaced.
        ///
        /// It comes behind the `finished` of the request that was redirected and before the `started` of the next.
        case redirected(to: String)

        /// An authenticating provider further in waited for a credential.
        case credentials(CredentialEvent)

        /// A limiting provider further in had it wait for so long; the reason is `concurrency`, `rate` or `server`.
        case limited(for: Duration, because: String)

        /// Something happened to the circuit of its host, in a circuit-breaking provider further in.
        case circuit(CircuitEvent)

        /// A hedging provider further in sent it a second time, so long after the first.
        case hedged(after: Duration)

        /// A failover further in sends it to this origin; the reason is a status or the kind of an error.
        case failedOver(to: String, because: String)
        /// A caching provider further in answers with a body that it had; see ``CacheHit`` for what the server knows of
        /// it.
        case servedFromCache(CacheHit)

        /// A deduplicating provider further in waits for the answer to another call's request, which is the same.
        case joined

        /// Your own provider did something of this name, low in cardinality.
        ///
        /// The description replaces secrets in the details that the standard redactor knows.
        case custom(String, details: [String: String])

        /// It is over: the last event of a pair, and exactly one of each.
        ///
        /// A streamed body is over when it has ended, failed or been left.
        case finished(CallTotals)
    }

    /// What the route is called, low in cardinality; nil for a request made by hand.
    ///
    /// Computed again each time; see ``ApiRequest/routeName``.
    public var route: String? { request.routeName }

    /// The method.
    public var method: HTTPMethod { request.method }

    /// The URL's text, with secrets replaced.
    ///
    /// - Parameter redactor: What replaces them; the standard by default.
    public func url(redacting redactor: Redactor = .standard) -> String {
        request.redactor(from: redactor, includingValues: false).redact(request.url)
    }

    /// The request with every secret replaced.
    public var summary: RequestSummary { RequestSummary(request) }

    /// The request as a `curl` command, with secrets replaced; see ``ApiRequest/curlCommand(redacting:)``.
    ///
    /// - Parameter redactor: What replaces them; the standard by default.
    public func curlCommand(redacting redactor: Redactor = .standard) -> String {
        request.curlCommand(redacting: redactor)
    }
}

extension CallEvent: CustomStringConvertible, CustomReflectable {
    /// Call, attempt, request and what happened, with secrets replaced.
    public var description: String { "\(call)#\(attempt) \(request): \(kind)" }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CallEvent.Kind {
    /// Whether a provider or the connection decided something about the call; false for what every call goes through.
    public var isDecision: Bool {
        switch self {
        case .started, .attemptStarted, .attemptTimed, .head, .bytes, .finished: false
        case .retrying, .notRetrying, .redirected, .credentials, .limited, .circuit, .hedged, .failedOver,
            .servedFromCache, .joined, .custom:
            true
        }
    }
}

extension CallEvent.Kind: CustomStringConvertible {
    /// What happened, in a few words.
    public var description: String {
        switch self {
        case .started: "started"
        case .attemptStarted: "attempt started"
        case .head(let status): "head \(status)"
        case .bytes(let count): "\(count) bytes"
        case .retrying(let wait, let reason): "retrying after \(wait) because of \(reason)"
        case .attemptTimed(let times): "attempt took \(times)"
        case .notRetrying(let reason): "not retrying because of \(reason)"
        case .redirected(let url): "redirected to \(url)"
        case .credentials(let event): "credentials: \(event)"
        case .limited(let wait, let reason): "limited for \(wait) because of \(reason)"
        case .circuit(let event): "circuit: \(event)"
        case .hedged(let delay): "hedged after \(delay)"
        case .failedOver(let origin, let reason): "failed over to \(origin) because of \(reason)"
        case .servedFromCache(let hit): "served from the cache: \(hit)"
        case .joined: "joined"
        case .custom(let name, let details): Self.text(name, details)
        case .finished(let totals): "finished: \(totals)"
        }
    }

    private static func text(_ name: String, _ details: [String: String]) -> String {
        guard !details.isEmpty else { return name }
        let list = details.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        return Redactor.standard.redact(text: "\(name): \(list.joined(separator: " "))")
    }
}

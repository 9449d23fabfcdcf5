// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An event of a call, as ``CallObserver/handle(_:)`` receives it.
///
/// Everything that it shows of its request is redacted. The redacted texts are computed at each access.
public struct CallEvent: Sendable {
    /// The ID of the call, which all its attempts and redirects share.
    public var call: CallID { context.id(random: random) }

    private let context: CallContext
    private let random: @Sendable () -> UInt64

    /// The number of the attempt, counted from 1.
    ///
    /// The `started` and `finished` of a pair have the same number.
    public let attempt: Int

    /// When the event happened, on the scale of the observer's time source.
    public let time: Duration

    /// The kind of event, with its details.
    public let kind: Kind

    let request: ApiRequest

    /// - Parameter random: Generates the call's ID if the call has none yet.
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
        // An observer may keep its events. The request's `events` retains the observer, so this would be a reference
        // cycle.
        self.request = request.detached(reportingEvents: false)
    }

    /// The kinds of events.
    ///
    /// More cases may be added, so use a default case in a switch.
    ///
    /// The decisions of the module `ApiConnectorTraffic` are included, so that an observer can handle them without that
    /// module. Your own wrapper can report them, too.
    public enum Kind: Sendable {
        /// A request passed the observer: the first event of a pair.
        case started

        /// An inner retrying provider sends the request, for the first time or again.
        case attemptStarted

        /// The response's head arrived.
        case head(HTTPStatus)

        /// The number of body bytes that arrived, or that the reader of a stream received.
        case bytes(count: Int)

        /// An inner retrying provider waits and then sends the request again. The reason is a status code or the
        /// kind of an error.
        ///
        /// A stream that is resumed also reports this event, after the `finished` of the broken connection.
        case retrying(after: Duration, because: String)

        /// The times of a failed attempt's phases, reported when an inner retrying provider sends another attempt.
        ///
        /// ``CallTotals/times`` has the times of the last attempt.
        indirect case attemptTimed(TransportTimes)

        /// An inner retrying provider does not send the request again after a failure. The reason is one of a few
        /// fixed words.
        ///
        /// A stream that is not resumed also reports this event, after the `finished` of its last connection.
        case notRetrying(because: String)

        /// The connection follows a redirect to this URL, in which secrets are replaced.
        ///
        /// The event comes after the `finished` of the redirected request, and before the `started` of the next
        /// request.
        case redirected(to: String)

        /// An inner authenticating provider waited for a credential, or sends the request again with a newer one.
        case credentials(CallEvent.CredentialUse)

        /// An inner limiting provider made the request wait; the reason is `concurrency`, `rate` or `server`.
        case limited(for: Duration, because: String)

        /// An inner circuit-breaking provider changed the circuit of the request's host, or rejected the request.
        case circuit(CircuitEvent)

        /// An inner hedging provider sent the request a second time after this delay.
        case hedged(after: Duration)

        /// An inner failover provider sends the request to this origin. The reason is a status, the kind of an
        /// error, or `remembered` if the request's own host failed recently.
        case failedOver(to: String, because: String)
        /// An inner caching provider responds with a body from the cache; see ``CacheHit`` for how it was
        /// validated.
        case servedFromCache(CacheHit)

        /// An inner deduplicating provider waits for the response to an equal request of another call.
        case joined

        /// Your own provider reports an event. Use few different names.
        ///
        /// The description redacts the details with the standard redactor.
        case custom(String, details: [String: String])

        /// The call or attempt has ended: the last event of a pair, reported exactly once.
        ///
        /// A streamed body has ended when it was read completely, failed, or was abandoned.
        case finished(CallTotals)
    }

    /// The name of the route, of low cardinality; nil for a request without a route.
    ///
    /// It is computed each time; see ``ApiRequest/routeName``.
    public var route: String? { request.routeName }

    /// The method.
    public var method: HTTPMethod { request.method }

    /// The scheme, host and port of the request's URL; nil for a URL without a host.
    public var origin: HTTPOrigin? { HTTPOrigin(request.url) }

    /// The URL as text, with secrets replaced.
    ///
    /// - Parameter redactor: Replaces secrets; the standard redactor by default.
    public func url(redacting redactor: Redactor = .standard) -> String {
        request.redactor(from: redactor, includingValues: false).redact(request.url)
    }

    /// The request with every secret replaced.
    public var summary: RequestSummary { RequestSummary(request) }

    /// The request as a `curl` command, with secrets replaced; see ``ApiRequest/curlCommand(redacting:)``.
    ///
    /// - Parameter redactor: Replaces secrets; the standard redactor by default.
    public func curlCommand(redacting redactor: Redactor = .standard) -> String {
        request.curlCommand(redacting: redactor)
    }
}

extension CallEvent: CustomStringConvertible, CustomReflectable {
    /// The call, the attempt, the request and the event, with secrets replaced.
    public var description: String { "\(call)#\(attempt) \(request): \(kind)" }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CallEvent.Kind {
    /// Whether the event is a decision of a provider or the connection; false for an event that only reports progress.
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
    /// The event in a few words.
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

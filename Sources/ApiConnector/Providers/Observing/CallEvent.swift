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

extension CallEvent {
    /// How a call ended for its providers, before the connection validates the response.
    public enum Outcome: Sendable, CustomStringConvertible {
        /// The complete response arrived, with any status.
        case answered(HTTPStatus)

        /// The body was abandoned before its end, because of its reader, a cancellation or a time limit.
        case left(HTTPStatus)

        /// There was no response, or its body failed.
        case failed(ApiConnectorError)

        /// The response's status; nil if there was no response, or if its body failed.
        public var status: HTTPStatus? {
            switch self {
            case .answered(let status), .left(let status): status
            case .failed: nil
            }
        }

        /// Whether the call failed, or its status is 400 or above; false for a canceled call and an abandoned body.
        public var isFailure: Bool {
            switch self {
            case .answered(let status): status.rawValue >= 400
            case .left: false
            case .failed(let error): error.kind != .cancelled
            }
        }

        /// The outcome as a label of low cardinality: `2xx` to `5xx`, `left`, or the kind of the error.
        public var label: String {
            switch self {
            case .answered(let status): "\(status.rawValue / 100)xx"
            case .left: "left"
            case .failed(let error): error.kind.rawValue
            }
        }

        /// The status or the error's kind.
        public var description: String {
            switch self {
            case .answered(let status): status.description
            case .left(let status): "\(status), left"
            case .failed(let error): error.kind.rawValue
            }
        }
    }
}

/// The result of a call, in its last event.
public struct CallTotals: Sendable, CustomStringConvertible {
    /// How the call ended.
    public let outcome: CallEvent.Outcome

    /// How long the call took, including the body.
    public let elapsed: Duration

    /// The number of body bytes that arrived.
    public let byteCount: Int

    /// How often an inner retrying provider sent the request; without such a provider, 1, or 0 for a cache hit that the
    /// server has not validated.
    public let attemptCount: Int

    /// Whether and how an inner cache supplied the response; nil if the response came from the server.
    public let cacheHit: CacheHit?

    /// The times of the last attempt's phases; nil if the transport does not measure them, or was not reached.
    ///
    /// ``CallEvent/Kind/attemptTimed(_:)`` has the times of the earlier attempts. Each hop of a redirect has its own
    /// totals.
    public var times: TransportTimes? { timesRecord?.times }

    let timesRecord: TransportTimesRecord?

    /// The outcome, the duration, the number of bytes, the kind of cache hit and the number of attempts.
    public var description: String {
        let attempts = attemptCount > 1 ? " in \(attemptCount) attempts" : ""
        return "\(outcome) after \(elapsed), \(byteCount) bytes\(source)\(attempts)"
    }

    /// The words for a cache hit in a line about the call; empty for other calls.
    var source: String { cacheHit.map { " from the cache (\($0))" } ?? "" }
}

extension CallEvent {
    /// An event of a call's credentials, reported by ``DataRequestType/authenticating(by:for:)``.
    public enum CredentialUse: String, Sendable, Hashable, CustomStringConvertible {
        /// The call started a refresh and waits for it.
        case refreshStarted
        /// The call waits for a refresh that another call started.
        case refreshJoined
        /// The refresh returned a new credential.
        case refreshed
        /// The refresh failed, and the call uses the old credential, which is still valid.
        case kept
        /// The refresh failed, or the user signed out.
        case unavailable
        /// The server refused a credential that had been replaced meanwhile. The request is sent again with the new
        /// one.
        case resent

        /// The name of the case.
        public var description: String { rawValue }
    }
}

/// An event of a host's circuit breaker.
public enum CircuitEvent: String, Sendable, Hashable, CustomStringConvertible {
    /// The request failed, and the circuit opened.
    case opened
    /// The request tests whether the host has recovered.
    case probing
    /// The request succeeded, and the circuit closed.
    case closed
    /// The request was rejected because the circuit is open.
    case refused

    /// The name of the case.
    public var description: String { rawValue }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The error of every failed call, the same type for all transports.
///
/// Switch on ``kind``. There are two texts:
///
/// - The description is one paragraph for the developer: the request, the failure, and what to do about it.
/// - `localizedDescription` is one or two sentences for the app's user.
///
/// Neither the texts nor the properties contain secrets; see ``Redactor``. The exceptions are ``underlying`` and
/// ``backendFailure``, which are not redacted.
public struct ApiConnectorError: Error, Sendable {
    /// The kind of failure.
    public let kind: Kind

    /// The stage of the call that failed.
    public let stage: Stage

    /// The failure in words, as part of a sentence and without a full stop.
    public internal(set) var detail: String

    /// The request as it was sent, with secrets replaced; nil if no request was built.
    public internal(set) var request: RequestSummary?

    /// The response, with secrets replaced; nil if its head did not arrive.
    public internal(set) var response: ResponseSummary?

    /// The error that caused this one.
    ///
    /// It is not redacted, so it may contain secrets.
    public let underlying: (any Error)?

    /// The time from the start of the call to its failure; nil if the error was not thrown by a connection.
    public internal(set) var elapsed: Duration?

    /// How much of the last request was sent; nil if the transport does not know.
    ///
    /// The transport never reports less than it sent. After ``SentBytes/nothing``, every request is safe to retry,
    /// unless there are ``earlierAttempts`` or the call has followed a redirect.
    public var bytesSent: SentBytes?

    /// The times of the failed exchange's phases; nil if the transport does not measure them, or was not reached.
    ///
    /// If the call failed while it waited for its turn in a limiting provider, the times contain only that wait.
    public var times: TransportTimes? { timesRecord?.times }

    /// The record that the transport writes ``times`` to; nil by default.
    public var timesRecord: TransportTimesRecord?

    /// The backend's own error, as the router's envelope decodes it, for kind `.backendFailure`; see ``failure(as:)``.
    ///
    /// This is your model with the contents of the body. It is not redacted, and the library's texts do not show it.
    public internal(set) var backendFailure: (any Sendable)?

    /// The problem details (RFC 9457), if the response has their media type.
    public internal(set) var problem: ProblemDetails?

    /// Whether a retry cannot help although the kind is transient, for example when a proxy rejects the connection;
    /// false by default.
    ///
    /// A retrying provider does not repeat such a request. Your own transport can set it.
    public var isPermanent = false

    /// Advice on the cause, if the cause is known; nil uses the kind's advice, and an empty text shows no advice.
    var knownAdvice: String?

    /// The attempts before the failed one, and why there was no further attempt; nil if neither is known.
    var history: AttemptHistory?

    /// Makes an error, for example in your own provider or in a test.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - stage: The stage that failed; `.provider` by default.
    ///   - detail: The end of the sentence "GET http://… failed: …", without a full stop.
    ///   - request: The request as it was sent; if nil, the connection sets it.
    ///   - underlying: The error that caused this one; nil by default.
    @inline(never)
    public init(
        _ kind: Kind,
        at stage: Stage = .provider,
        _ detail: String,
        request: ApiRequest? = nil,
        underlying: (any Error)? = nil
    ) {
        // Not inlined: with redaction inlined, the function that builds a URL was three times as long.
        let redactor = request?.textRedactor
        self.kind = kind
        self.stage = stage
        self.detail = redactor?.redactValues(in: detail) ?? detail
        self.request = request.map { RequestSummary($0, redactor) }
        self.history = request?.history
        self.response = nil
        self.underlying = underlying
    }

    /// Makes an error about a response.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - stage: The stage that failed; `.response` by default.
    ///   - detail: The end of the sentence "GET http://… failed: …", without a full stop.
    ///   - response: The response; the error also takes its request.
    ///   - body: The part of the body that was read; the error keeps the first 1,024 bytes.
    ///   - underlying: The error that caused this one; nil by default.
    public init(
        _ kind: Kind,
        at stage: Stage = .response,
        _ detail: String,
        response: ApiResponse,
        body: Data,
        underlying: (any Error)? = nil
    ) {
        let redactor = response.request.textRedactor
        self.kind = kind
        self.stage = stage
        self.detail = redactor.redactValues(in: detail)
        self.request = RequestSummary(response.request, redactor)
        self.history = response.request.history
        self.response = ResponseSummary(response.head, body: body, redactor: redactor)
        self.timesRecord = response.timesRecord
        self.underlying = underlying
        if kind == .unacceptableStatus { knownAdvice = response.adviceOnCredentials }
    }

    /// Makes an error about a response of which only the head is available.
    init(_ kind: Kind, at stage: Stage, _ detail: String, head: ResponseHead) {
        self.kind = kind
        self.stage = stage
        self.detail = detail
        self.response = ResponseSummary(head, body: Data())
        self.underlying = nil
    }
}

extension ApiConnectorError {
    /// The stages of a call, in order.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Building the route's URL.
        case url
        /// Building the request with its header fields and body.
        case request
        /// Sending the request: a wrapper or the transport.
        case provider
        /// Reading the response.
        case response
        /// Checking the status and the media type.
        case validation
        /// Opening the envelope.
        case envelope
        /// Decoding the value.
        case value
    }

    /// The backend's own error, if it has this type; nil for any other kind of error.
    public func failure<Failure>(as type: Failure.Type = Failure.self) -> Failure? {
        backendFailure as? Failure
    }

    /// This error, with missing properties filled in.
    func completed(
        request: ApiRequest?,
        elapsed: Duration? = nil,
        head: ResponseHead? = nil
    ) -> ApiConnectorError {
        var error = self
        if let request, error.request == nil || error.response == nil && head != nil {
            let redactor = request.textRedactor
            error.redactValues(by: redactor)
            error.response = error.response ?? head.map { ResponseSummary($0, body: Data(), redactor: redactor) }
            error.request = error.request ?? RequestSummary(request, redactor)
        } else if let head {
            error.response = error.response ?? ResponseSummary(head, body: Data())
        }
        error.history = error.history ?? request?.history
        error.elapsed = error.elapsed ?? elapsed
        return error
    }

    /// Redacts again with the request's redactor, because the error was made before the request was known.
    private mutating func redactValues(by redactor: Redactor) {
        detail = redactor.redactValues(in: detail)
        response = response?.redacted(by: redactor)
        problem = problem?.redacted(by: redactor)
    }

    static func bodyTooLarge(limit: Int) -> ApiConnectorError {
        ApiConnectorError(.bodyTooLarge, at: .response, "the body is longer than the limit of \(limit) bytes")
    }

    static func deadlineExceeded(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.deadlineExceeded, "the call did not finish before its deadline", request: request)
    }

    /// The error of a canceled task that reads a body.
    static var cancelledReading: ApiConnectorError {
        ApiConnectorError(.cancelled, at: .response, "the call was canceled")
    }

    static func cancelled(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the call was canceled", request: request)
    }
}

extension ApiConnectorError {
    /// A kind of failure.
    ///
    /// The kinds are the same for every transport; a provider can define more.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The fixed string, such as `timedOut`.
        public let rawValue: String

        /// Makes a kind from any string, for your own providers.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The fixed string.
        public var description: String { rawValue }

        /// The request is not valid: its route, URL or a header field.
        ///
        /// Nothing was sent.
        public static let invalidRequest = Kind(rawValue: "invalidRequest")
        /// The request's body could not be encoded.
        ///
        /// Nothing was sent.
        public static let encodingFailed = Kind(rawValue: "encodingFailed")
        /// The host name has no address.
        public static let nameNotResolved = Kind(rawValue: "nameNotResolved")
        /// No connection to the server could be opened.
        public static let cannotConnect = Kind(rawValue: "cannotConnect")
        /// TLS failed, for example because of a certificate, a pinned key or a protocol version.
        public static let secureConnectionFailed = Kind(rawValue: "secureConnectionFailed")
        /// The connection broke before the response was complete.
        public static let connectionLost = Kind(rawValue: "connectionLost")
        /// The received bytes are not valid HTTP, or the response is a part of a body that was requested as a whole.
        public static let malformedResponse = Kind(rawValue: "malformedResponse")
        /// An attempt took longer than its time limit.
        public static let timedOut = Kind(rawValue: "timedOut")
        /// No data arrived for longer than the stall limit.
        public static let stalled = Kind(rawValue: "stalled")
        /// The call, including its retries, took longer than its time limit.
        public static let deadlineExceeded = Kind(rawValue: "deadlineExceeded")
        /// The task was canceled, or the code left the loop over a stream.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// The connection did not follow a redirect, because of its policy or for safety.
        public static let redirectRefused = Kind(rawValue: "redirectRefused")
        /// There were more redirects than allowed, or a redirect loop.
        public static let tooManyRedirects = Kind(rawValue: "tooManyRedirects")
        /// The status is not one of the accepted ones.
        public static let unacceptableStatus = Kind(rawValue: "unacceptableStatus")
        /// The media type is not one of the requested ones.
        public static let unacceptableMediaType = Kind(rawValue: "unacceptableMediaType")
        /// The backend reported its own error.
        public static let backendFailure = Kind(rawValue: "backendFailure")
        /// The body could not be decoded as the value's type.
        public static let decodingFailed = Kind(rawValue: "decodingFailed")
        /// The body is longer than the limit.
        public static let bodyTooLarge = Kind(rawValue: "bodyTooLarge")
        /// One record of a stream, or the text around a streamed array, is longer than the limit.
        public static let recordTooLarge = Kind(rawValue: "recordTooLarge")
        /// The body cannot be sent again.
        public static let notReplayable = Kind(rawValue: "notReplayable")
        /// There is no credential, or it could not be refreshed.
        public static let credentialsUnavailable = Kind(rawValue: "credentialsUnavailable")
        /// The circuit breaker does not let requests to this host through for now.
        public static let circuitOpen = Kind(rawValue: "circuitOpen")
        /// The call was limited to the cache, and the cache has no usable response.
        ///
        /// Nothing was sent.
        public static let notCached = Kind(rawValue: "notCached")
        /// A test double has no response to the request.
        public static let unmatched = Kind(rawValue: "unmatched")
        /// Any other failure; see the underlying error.
        public static let other = Kind(rawValue: "other")
    }
}

extension ApiConnectorError: CustomStringConvertible {
    /// One paragraph for the developer: the request, the failure, and what to do about it.
    public var description: String {
        var text = request.map { "\($0) failed" } ?? "The call failed"
        text += " (\(kind)): \(detail)."
        if let sentence = times?.sentence { text += " \(sentence)" }
        if let history = history?.text { text += " \(history)" }
        if let advice { text += " \(advice)" }
        if let body = response?.bodyPrefix, !body.isEmpty {
            text += response?.isBodyTruncated == true ? " The body begins: \(body)" : " The body: \(body)"
        }
        return text
    }
}

extension ApiConnectorError: CustomReflectable {
    /// The properties that `dump` shows.
    ///
    /// Of ``underlying`` and ``backendFailure`` only the types are included, because their values are not redacted.
    public var customMirror: Mirror {
        var children: [(String?, Any)] = [("kind", kind.rawValue), ("stage", stage), ("detail", detail)]
        if let request { children.append(("request", request)) }
        if let response { children.append(("response", response)) }
        if let problem { children.append(("problem", problem)) }
        if let backendFailure { children.append(("backendFailure", type(of: backendFailure))) }
        if let underlying { children.append(("underlying", type(of: underlying))) }
        if let elapsed { children.append(("elapsed", elapsed)) }
        if let times { children.append(("times", times)) }
        if !earlierAttempts.isEmpty { children.append(("earlierAttempts", earlierAttempts)) }
        return Mirror(self, children: children.map { (label: $0, value: $1) }, displayStyle: .struct)
    }
}

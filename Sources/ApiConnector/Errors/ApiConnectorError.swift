// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What went wrong with a call: one type for every way in which a call can fail, whatever the transport.
///
/// Switch on ``kind``. The description is one paragraph for the developer: what was asked, what came back, what to do.
/// `localizedDescription` is one sentence for the app's user.
/// Neither it nor any property but ``underlying`` holds a secret: see ``Redactor``.
public struct ApiConnectorError: Error, Sendable {
    /// What kind of failure it is.
    public let kind: Kind

    /// At which stage of a request's way it arose.
    public let stage: Stage

    /// What happened, in one sentence without a full stop.
    public internal(set) var detail: String

    /// The request as it was sent, with secrets replaced; nil where there was none yet.
    public internal(set) var request: RequestSummary?

    /// The response, if its head arrived, with secrets replaced.
    public internal(set) var response: ResponseSummary?

    /// The error that caused this one, as it was; it may hold what we do not show.
    public let underlying: (any Error)?

    /// The time from the start of the call to its failure; nil where no connection was involved.
    public internal(set) var elapsed: Duration?

    /// How much of the request was sent; nil where the transport does not know.
    ///
    /// The transport never reports less than it sent. After ``SentBytes/nothing``, every request is safe to retry.
    public var bytesSent: SentBytes?

    /// Where the time of the exchange that failed went; nil where the transport does not measure it, or was not reached.
    public var times: TransportTimes? { timesRecord?.times }

    /// What the transport writes ``times`` into; nil, nothing, by default.
    public var timesRecord: TransportTimesRecord?

    /// The backend's own error as the router's envelope decodes it, for kind `.backendFailure`; see ``failure(as:)``.
    ///
    /// It is the backend's body as your model: nothing in it is replaced, and no text of ours shows it.
    public internal(set) var backendFailure: (any Sendable)?

    /// Problem details (RFC 9457), where the response's media type says that it has them.
    public internal(set) var problem: ProblemDetails?

    /// Whether it is not to be retried although its kind may pass: such as a proxy's refusal.
    var isPermanent = false

    /// What a person can do about its cause, where that is known; nil where the kind says it, empty for nothing.
    var knownAdvice: String?

    /// What came before the request that failed; nil where nothing did.
    var history: AttemptHistory?

    /// Makes an error, such as in your own provider or for a test.
    ///
    /// - Parameters:
    ///   - kind: What kind of failure it is.
    ///   - stage: Where it arose; in a provider by default.
    ///   - detail: What happened, as the end of the sentence "GET http://… failed: …", without a full stop.
    ///   - request: The request as it was sent; a connection fills it in where it is missing.
    ///   - underlying: What caused it; nil, nothing else, by default.
    ///
    /// It is not inlined: redacting made the function that builds a URL three times as long.
    @inline(never)
    public init(
        _ kind: Kind,
        at stage: Stage = .provider,
        _ detail: String,
        request: ApiRequest? = nil,
        underlying: (any Error)? = nil
    ) {
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
    ///   - kind: What kind of failure it is.
    ///   - stage: Where it arose; while the response was read by default.
    ///   - detail: What happened, as the end of the sentence "GET http://… failed: …", without a full stop.
    ///   - response: What came; its request is the error's too.
    ///   - body: The body as far as it was read; its first 1,024 bytes are kept.
    ///   - underlying: What caused it; nil, nothing else, by default.
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

    /// Makes an error about a response of which only the head is left.
    init(_ kind: Kind, at stage: Stage, _ detail: String, head: ResponseHead) {
        self.kind = kind
        self.stage = stage
        self.detail = detail
        self.response = ResponseSummary(head, body: Data())
        self.underlying = nil
    }
}

extension ApiConnectorError {
    /// The stages of a request's way, in order.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Building the URL of a route.
        case url
        /// Building the request: headers and body.
        case request
        /// In a provider: a wrapper or the transport.
        case provider
        /// Reading the response.
        case response
        /// Checking status and media type.
        case validation
        /// Opening the envelope.
        case envelope
        /// Decoding the value.
        case value
    }

    /// The backend's own error as a type; nil for any other type and any other kind of error.
    public func failure<Failure>(as type: Failure.Type = Failure.self) -> Failure? {
        backendFailure as? Failure
    }

    /// This error with what it does not know yet.
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

    /// Replaces what a request has shown to be secret in what was made before the request was known.
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

    static func cancelled(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the call was canceled", request: request)
    }
}

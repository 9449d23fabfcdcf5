// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// The advice in the description: what to do about the error.
    ///
    /// Nil if the detail already contains the advice, or if there is nothing to do.
    var advice: String? {
        if let knownAdvice { return knownAdvice.isEmpty ? nil : knownAdvice }
        switch kind {
        case .unacceptableStatus: return response?.advice
        case .unacceptableMediaType: return response?.adviceOnStream ?? kind.advice
        // Without a body, the detail contains the advice.
        case .decodingFailed where response?.bodyPrefix.isEmpty != false: return nil
        default: return kind.advice
        }
    }

    /// The same error with advice on its cause in place of the advice of its kind; unchanged if the advice is nil.
    ///
    /// Empty advice is not shown.
    func advising(_ advice: String?) -> ApiConnectorError {
        var error = self
        error.knownAdvice = advice ?? error.knownAdvice
        return error
    }

    /// The same error with advice that names the time limit; unchanged for kinds other than `.deadlineExceeded`.
    ///
    /// - Parameter name: The name of the limit.
    func naming(_ limit: Duration, _ name: String) -> ApiConnectorError {
        guard kind == .deadlineExceeded, knownAdvice == nil else { return self }
        return advising("\(name) limits the call to \(limit.inMilliseconds()): raise it, or request less.")
    }
}

extension ApiConnectorError.Kind {
    /// The advice for an error of this kind; nil if the detail has it, or if there is nothing to do.
    fileprivate var advice: String? {
        switch self {
        case .invalidRequest: "Nothing was sent; fix the route, the environment or the header."
        case .encodingFailed: "Nothing was sent."
        case .nameNotResolved: "Check the environment's host and this machine's DNS."
        case .cannotConnect: "Check that the server is running, and check the environment's host and port."
        case .secureConnectionFailed:
            "Check the server's certificate and this machine's date; do not turn the checks off."
        case .connectionLost: "Retry if the request is idempotent; a download to the same file resumes where possible."
        case .malformedResponse: "Check that an HTTP server listens on the host and port."
        case .timedOut: "Retry, or raise the attempt timeout."
        case .stalled: "Retry, or raise the stall timeout."
        case .deadlineExceeded: "Raise the call's timeout, or request less."
        case .redirectRefused: "Request the new URL directly, or change the redirect policy."
        case .tooManyRedirects: "Request the last URL directly, or report the redirect loop to the server's owner."
        case .unacceptableMediaType:
            "Check that the URL is that of an API, not of a web page; if the type is right, name it in an Accept "
                + "header."
        case .decodingFailed: "Compare the model with the server's JSON."
        case .bodyTooLarge: "Raise options.maximumBodyByteCount if such a body is expected."
        case .recordTooLarge: "Raise the limit if such a record is expected."
        case .notReplayable: "Send the request again with a new body."
        case .credentialsUnavailable: "Sign in again."
        case .notCached: "Make the call without cacheUse: .cached to send it to the server."
        case .circuitOpen: "Wait: the circuit breaker soon tries the host again."
        default: nil
        }
    }
}

extension ResponseSummary {
    /// The advice for a rejected status; nil if the status text says enough.
    fileprivate var advice: String? {
        switch status.rawValue {
        case 304:
            "The resource has not changed: wrap the provider in caching(in:), "
                + "or send no If-None-Match and If-Modified-Since."
        case 300..<400: "Follow redirects with options.redirects, or request the new URL directly."
        case 403 where headers.contains(.retryAfter), 429: "Send requests less often."
        case 401, 403: "Check the credentials that the request carries."
        case 404, 405: "Check the route's path and method, and the environment."
        case 500..<600: "The server has a problem; retry later, or tell its owner."
        default: nil
        }
    }
}

extension ResponseSummary {
    /// The advice for a body that is a stream; nil for any other body.
    fileprivate var adviceOnStream: String? {
        DecodingAdvice.advice(onStreamOf: headers[.contentType].flatMap { MediaType($0) })
    }
}

extension ApiResponse {
    /// The advice for a 401 or 403 to a request without credentials; nil if the request had credentials.
    var adviceOnCredentials: String? {
        guard status == 401 || status == 403 && !headers.contains(.retryAfter), !hasCredentials else {
            return nil
        }
        return "The request carried no credentials: "
            + (request.isToOwnOrigin == false
                ? "they are sent only to the environment's own origin. Name the other origin in "
                    + "authenticating(by:for:), or set a header field in the call's options."
                : "add them with authenticating(by:for:) or a header field.")
    }

    private var hasCredentials: Bool {
        request.ownSecrets != nil || request.headers.contains { Redactor.standard.isSecret($0) }
            || Redactor.standard.redact(request.url).contains(Redactor.replacement)
    }
}

extension ApiConnectorError: LocalizedError {
    /// One or two English sentences for the app's user, without the URL and the body; `localizedDescription` returns
    /// them.
    ///
    /// `description` is the text for the developer. To write your own texts or to translate them, switch on ``kind``.
    public var errorDescription: String? {
        switch kind {
        case .cancelled: "The request was canceled."
        case .nameNotResolved, .cannotConnect, .circuitOpen: "The server cannot be reached."
        case .secureConnectionFailed: "A secure connection to the server cannot be made."
        case .connectionLost: "The connection to the server was lost."
        case .timedOut, .stalled, .deadlineExceeded: "The server took too long to respond."
        case .unacceptableStatus: response?.status.userText ?? HTTPStatus(rawValue: 400).userText
        case .backendFailure: "The server reported an error."
        case .credentialsUnavailable: HTTPStatus(rawValue: 401).userText
        case .notCached: "This is not available offline."
        case .invalidRequest, .encodingFailed, .notReplayable, .redirectRefused, .tooManyRedirects:
            "The request could not be made."
        case .malformedResponse, .unacceptableMediaType, .decodingFailed, .bodyTooLarge, .recordTooLarge:
            "The server's response could not be read."
        default: "Something went wrong."
        }
    }
}

extension HTTPStatus {
    fileprivate var userText: String {
        switch rawValue {
        case 401: "You are not signed in."
        case 403: "You are not allowed to do this."
        case 404, 410: "This was not found."
        case 429: "There were too many requests. Try again later."
        case 500..<600: "The server has a problem. Try again later."
        default: "The server refused the request."
        }
    }
}

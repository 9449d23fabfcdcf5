// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError: CustomStringConvertible, LocalizedError {
    /// One paragraph: what was asked, what came back, what to do.
    public var description: String {
        var text = request.map { "\($0.method) \($0.url) failed" } ?? "The call failed"
        text += " (\(kind)): \(detail)."
        if let history = history?.text { text += " \(history)" }
        if let advice { text += " \(advice)" }
        if let body = response?.bodyPrefix, !body.isEmpty {
            text += response?.isBodyTruncated == true ? " The body begins: \(body)" : " The body: \(body)"
        }
        return text
    }

    private var advice: String? {
        switch kind {
        case .unacceptableStatus: response?.status.advice
        // The detail says what to do where no body came.
        case .decodingFailed where response?.bodyPrefix.isEmpty != false: nil
        default: kind.advice
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}

extension ApiConnectorError: CustomReflectable {
    /// What `dump` shows.
    ///
    /// It shows only the types of ``underlying`` and ``backendFailure``, because their values are not redacted.
    public var customMirror: Mirror {
        var children: [(String?, Any)] = [("kind", kind.rawValue), ("stage", stage), ("detail", detail)]
        if let request { children.append(("request", request)) }
        if let response { children.append(("response", response)) }
        if let problem { children.append(("problem", problem)) }
        if let backendFailure { children.append(("backendFailure", type(of: backendFailure))) }
        if let underlying { children.append(("underlying", type(of: underlying))) }
        if let elapsed { children.append(("elapsed", elapsed)) }
        if !earlierAttempts.isEmpty { children.append(("earlierAttempts", earlierAttempts)) }
        return Mirror(self, children: children.map { (label: $0, value: $1) }, displayStyle: .struct)
    }
}

extension ApiConnectorError.Kind {
    /// What a person can do about it; nil where the detail says it or nothing can be done.
    var advice: String? {
        switch self {
        case .invalidRequest: "Nothing was sent; mend the route, the environment or the header."
        case .encodingFailed: "Nothing was sent."
        case .nameNotResolved: "Check the environment's host, and that this machine can look up names."
        case .cannotConnect: "Check that the server is running, and the environment's host and port."
        case .secureConnectionFailed:
            "Check the server's certificate and this machine's date; do not switch checks off."
        case .connectionLost: "Send it again if it is idempotent; a download to the same file goes on where it can."
        case .malformedResponse: "Check that host and port belong to an HTTP server and not to something else."
        case .timedOut: "Send it again, or allow an attempt more time."
        case .stalled: "Send it again, or allow longer silences."
        case .deadlineExceeded: "Allow the call more time, or ask for less."
        case .redirectRefused: "Ask for the new address itself, or change the redirect policy."
        case .tooManyRedirects: "Ask for the last address itself, or tell the server's owner of the circle."
        case .unacceptableMediaType:
            "Check that the URL is the endpoint's and not a page's; if the type is right, accept it by an Accept header."
        case .decodingFailed: "Compare the model with what the server sends."
        case .bodyTooLarge: "Raise options.maximumBodyByteCount if such a body is expected."
        case .recordTooLarge: "Raise the limit if such a record is expected."
        case .notReplayable: "Send it anew with a new body."
        case .credentialsUnavailable: "Sign in again."
        case .notCached: "Ask without a cacheUse of .cached, so that the server is asked."
        case .circuitOpen: "Wait; the host is tried again by itself."
        default: nil
        }
    }
}

extension HTTPStatus {
    /// What a person can do about a status that was not accepted; nil where the server's words have to do.
    fileprivate var advice: String? {
        switch rawValue {
        case 300..<400: "Follow redirects by options.redirects, or ask for the new address itself."
        case 401, 403: "Check the credentials that the request carries."
        case 404, 405: "Check the route's path and method, and the environment."
        case 429: "Ask less often."
        case 500..<600: "The fault is the server's; try again later, or tell its owner."
        default: nil
        }
    }
}

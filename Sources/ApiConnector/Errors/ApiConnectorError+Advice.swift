// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// What a person can do about it; nil where the detail says it or nothing can be done.
    var advice: String? {
        if let knownAdvice { return knownAdvice.isEmpty ? nil : knownAdvice }
        switch kind {
        case .unacceptableStatus: return response?.advice
        // The detail says what to do where no body came.
        case .decodingFailed where response?.bodyPrefix.isEmpty != false: return nil
        default: return kind.advice
        }
    }

    /// The same error with advice on its cause in place of that on its kind; empty advice is left out.
    func advising(_ advice: String?) -> ApiConnectorError {
        var error = self
        error.knownAdvice = advice ?? error.knownAdvice
        return error
    }

    /// The same error with the limit that was reached, where it is a deadline's.
    ///
    /// - Parameter name: What the limit is called.
    func naming(_ limit: Duration, _ name: String) -> ApiConnectorError {
        guard kind == .deadlineExceeded, knownAdvice == nil else { return self }
        return advising("\(name) allows the call \(limit.inMilliseconds()): allow it more, or ask for less.")
    }
}

extension ApiConnectorError.Kind {
    /// What a person can do about it; nil where the detail says it or nothing can be done.
    fileprivate var advice: String? {
        switch self {
        case .invalidRequest: "Nothing was sent; fix the route, the environment or the header."
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
        case .notReplayable: "Send it again with a new body."
        case .credentialsUnavailable: "Sign in again."
        case .notCached: "Ask without a cacheUse of .cached, so that the server is asked."
        case .circuitOpen: "Wait; the host is tried again by itself."
        default: nil
        }
    }
}

extension ResponseSummary {
    /// What a person can do about a status that was not accepted; nil where the server's words have to do.
    fileprivate var advice: String? {
        switch status.rawValue {
        case 304:
            "The resource has not changed: wrap the provider in caching(in:), "
                + "or send no If-None-Match and If-Modified-Since."
        case 300..<400: "Follow redirects by options.redirects, or ask for the new address itself."
        case 403 where headers.contains(.retryAfter), 429: "Ask less often."
        case 401, 403: "Check the credentials that the request carries."
        case 404, 405: "Check the route's path and method, and the environment."
        case 500..<600: "The fault is the server's; try again later, or tell its owner."
        default: nil
        }
    }
}

extension ApiResponse {
    /// What a person can do about a request that was refused for want of credentials; nil where it carried some.
    var adviceOnCredentials: String? {
        guard status == 401 || status == 403 && !headers.contains(.retryAfter), !request.carriesSecrets else {
            return nil
        }
        return "The request carried no credentials: "
            + (request.isToOwnOrigin == false
                ? "they go to the environment's own origin only. Name the other origin in authenticating(by:for:), "
                    + "or set a header field in the call's options."
                : "add them by authenticating(by:for:) or a header field.")
    }
}

extension ApiRequest {
    fileprivate var carriesSecrets: Bool {
        ownSecrets != nil || headers.contains { Redactor.standard.isSecret(header: $0.name) }
            || Redactor.standard.redact(url).contains(Redactor.replacement)
    }
}

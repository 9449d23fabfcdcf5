// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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

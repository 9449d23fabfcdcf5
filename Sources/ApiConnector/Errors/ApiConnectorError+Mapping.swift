// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Makes the error that a transport throws in place of another one.
    ///
    /// An ``ApiConnectorError`` stays what it is, a `CancellationError` and a `URLError` become the kind that the
    /// transports use for the same event, anything else becomes `.other`. Where the code that may throw is asynchronous,
    /// ``mapping(_:_:)`` does the same, and keeps to the limits of time as well.
    ///
    /// - Parameters:
    ///   - error: What was thrown, or handed to a completion handler.
    ///   - request: The request as it was sent, for the error's text; nil by default.
    public init(mapping error: any Error, request: ApiRequest? = nil) {
        let redactor = request?.textRedactor ?? .standard
        if let known = error as? ApiConnectorError {
            self = known.completed(request: request)
        } else if error is CancellationError {
            self.init(.cancelled, "the call was cancelled", request: request, underlying: error)
        } else if let kind = Kind(urlErrorCode: error) {
            let text = (error as NSError).localizedDescription
            let code = (error as NSError).code
            let words = kind == .cancelled ? "the call was cancelled" : Self.sentence(text, redactor)
            let detail = Self.details[code] ?? words
            self.init(kind, detail, request: request, underlying: error)
        } else {
            let text = Self.sentence(String(describing: error), redactor)
            self.init(.other, text, request: request, underlying: error)
        }
    }

    /// What a person has to know of some codes, in place of Foundation's words.
    private static let details: [Int: String] = [
        NSURLErrorAppTransportSecurityRequiresSecureConnection:
            "App Transport Security does not allow http; set the environment's scheme to https"
    ]

    /// A text from elsewhere as a detail: redacted, and without a full stop.
    static func sentence(_ text: String, _ redactor: Redactor = .standard) -> String {
        let redacted = redactor.redact(text: text).asOneLine
        if redacted.hasSuffix(".)") { return redacted.dropLast(2) + ")" }
        return redacted.hasSuffix(".") ? String(redacted.dropLast()) : redacted
    }
}

extension ApiConnectorError.Kind {
    /// The kind of an error in the domain of `URLError`; nil for any other error.
    init?(urlErrorCode error: any Error) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else { return nil }
        self = Self.kinds[error.code] ?? .other
    }

    /// What the codes of `URLError` mean, each with its reason where that is not plain.
    private static let kinds: [Int: ApiConnectorError.Kind] = [
        NSURLErrorCancelled: .cancelled,
        NSURLErrorBadURL: .invalidRequest,
        NSURLErrorUnsupportedURL: .invalidRequest,
        NSURLErrorTimedOut: .timedOut,
        NSURLErrorCannotFindHost: .nameNotResolved,
        NSURLErrorDNSLookupFailed: .nameNotResolved,
        NSURLErrorCannotConnectToHost: .cannotConnect,
        // No network at all: no connection was made.
        NSURLErrorNotConnectedToInternet: .cannotConnect,
        NSURLErrorInternationalRoamingOff: .cannotConnect,
        NSURLErrorCallIsActive: .cannotConnect,
        NSURLErrorDataNotAllowed: .cannotConnect,
        NSURLErrorNetworkConnectionLost: .connectionLost,
        NSURLErrorHTTPTooManyRedirects: .tooManyRedirects,
        NSURLErrorRedirectToNonExistentLocation: .redirectRefused,
        NSURLErrorBadServerResponse: .malformedResponse,
        NSURLErrorZeroByteResource: .malformedResponse,
        NSURLErrorCannotDecodeRawData: .malformedResponse,
        NSURLErrorCannotDecodeContentData: .malformedResponse,
        NSURLErrorCannotParseResponse: .malformedResponse,
        NSURLErrorUserCancelledAuthentication: .credentialsUnavailable,
        NSURLErrorUserAuthenticationRequired: .credentialsUnavailable,
        NSURLErrorDataLengthExceedsMaximum: .bodyTooLarge,
        NSURLErrorSecureConnectionFailed: .secureConnectionFailed,
        NSURLErrorServerCertificateHasBadDate: .secureConnectionFailed,
        NSURLErrorServerCertificateUntrusted: .secureConnectionFailed,
        NSURLErrorServerCertificateHasUnknownRoot: .secureConnectionFailed,
        NSURLErrorServerCertificateNotYetValid: .secureConnectionFailed,
        NSURLErrorClientCertificateRejected: .secureConnectionFailed,
        NSURLErrorClientCertificateRequired: .secureConnectionFailed,
        // App Transport Security refuses plain http.
        NSURLErrorAppTransportSecurityRequiresSecureConnection: .secureConnectionFailed,
    ]
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Converts any error to the `ApiConnectorError` that a transport would throw.
    ///
    /// - An ``ApiConnectorError`` keeps its kind and detail.
    /// - A `CancellationError` and the network errors of the system (`URLError`, CFNetwork, `POSIXError`) get the kind
    ///   that the transports use for the same failure.
    /// - Any other error gets the kind `.other`.
    ///
    /// For asynchronous code use ``mapping(_:_:)``, which also applies the time limits.
    ///
    /// - Parameters:
    ///   - error: The error that was thrown or passed to a completion handler.
    ///   - request: The request as it was sent, for the error's text; nil by default.
    public init(mapping error: any Error, request: ApiRequest? = nil) {
        let redactor = request?.textRedactor ?? .standard
        if let known = error as? ApiConnectorError {
            self = known.completed(request: request)
        } else if error is CancellationError {
            self.init(.cancelled, "the call was canceled", request: request, underlying: error)
        } else if let kind = Kind(systemError: error) {
            let text = (error as NSError).localizedDescription
            let code = (error as NSError).code
            let words = kind == .cancelled ? "the call was canceled" : Self.sentence(text, redactor)
            let known = (error as NSError).domain == NSURLErrorDomain ? Self.details[code] : nil
            self.init(kind, known?.detail ?? words, request: request, underlying: error)
            self = advising(known?.advice)
        } else {
            let text = Self.sentence(String(describing: error), redactor)
            self.init(.other, text, request: request, underlying: error)
        }
    }

    /// Details and advice for some `URLError` codes, used instead of Foundation's text and the kind's advice.
    private static let details: [Int: (detail: String, advice: String)] = [
        NSURLErrorAppTransportSecurityRequiresSecureConnection: (
            "App Transport Security does not allow http",
            "Set the environment's scheme to https, or allow the host with NSAppTransportSecurity in the app's "
                + "Info.plist; http to localhost is allowed; since iOS 17, http to an IP address is not."
        )
    ]

    /// Redacts a text from another library and removes its full stop, for use as a detail.
    static func sentence(_ text: String, _ redactor: Redactor = .standard) -> String {
        let redacted = redactor.redact(text: text).asOneLine
        if redacted.hasSuffix(".)") { return redacted.dropLast(2) + ")" }
        return redacted.hasSuffix(".") ? String(redacted.dropLast()) : redacted
    }
}

extension ApiConnectorError.Kind {
    /// The kind of an error of the system's network code (`URLError`, `POSIXError`, CFNetwork); nil for any other
    /// error.
    init?(systemError error: any Error) {
        let error = error as NSError
        switch error.domain {
        case NSURLErrorDomain: self = Self.kinds[error.code] ?? .other
        // The negative codes of CFNetwork are the codes of URLError.
        case "kCFErrorDomainCFNetwork": self = (Self.networkKinds[error.code] ?? Self.kinds[error.code]) ?? .other
        case NSPOSIXErrorDomain:
            guard let kind = Self.socketKinds[error.code] else { return nil }
            self = kind
        default: return nil
        }
    }

    /// The kinds of the system's socket errors.
    ///
    /// On Apple's systems, URLSession reports some of these errors unchanged.
    private static let socketKinds: [Int: ApiConnectorError.Kind] = [
        Int(ECONNABORTED): .connectionLost,
        Int(ECONNRESET): .connectionLost,
        Int(ENOTCONN): .connectionLost,
        Int(EPIPE): .connectionLost,
        Int(ECONNREFUSED): .cannotConnect,
        Int(EHOSTUNREACH): .cannotConnect,
        Int(ENETDOWN): .cannotConnect,
        Int(ENETUNREACH): .cannotConnect,
        Int(ETIMEDOUT): .timedOut,
    ]

    /// The kinds of the codes in CFNetwork's `CFNetworkErrors`.
    private static let networkKinds: [Int: ApiConnectorError.Kind] = [
        // kCFHostErrorHostNotFound and kCFHostErrorUnknown.
        1: .nameNotResolved,
        2: .nameNotResolved,
        // kCFErrorHTTPConnectionLost.
        302: .connectionLost,
        // kCFErrorHTTPParseFailure.
        303: .malformedResponse,
        // kCFErrorHTTPRedirectionLoopDetected.
        304: .tooManyRedirects,
        // kCFErrorHTTPBadURL.
        305: .invalidRequest,
        // kCFErrorHTTPProxyConnectionFailure and kCFErrorHTTPBadProxyCredentials.
        306: .cannotConnect,
        307: .cannotConnect,
        // kCFErrorPACFileError and kCFErrorPACFileAuth.
        308: .cannotConnect,
        309: .cannotConnect,
        // kCFErrorHTTPSProxyConnectionFailure, and kCFStreamErrorHTTPSProxyFailureUnexpectedResponseToCONNECTMethod.
        310: .cannotConnect,
        311: .cannotConnect,
    ]

    /// The kinds of the codes of `URLError`, with a reason where the kind is not obvious.
    private static let kinds: [Int: ApiConnectorError.Kind] = [
        NSURLErrorCancelled: .cancelled,
        NSURLErrorBadURL: .invalidRequest,
        NSURLErrorUnsupportedURL: .invalidRequest,
        NSURLErrorTimedOut: .timedOut,
        NSURLErrorCannotFindHost: .nameNotResolved,
        NSURLErrorDNSLookupFailed: .nameNotResolved,
        NSURLErrorCannotConnectToHost: .cannotConnect,
        // Without a network, no connection is opened.
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

extension ApiConnectorError {
    /// How much of a request the client sent, as far as the client knows.
    ///
    /// The server may have processed a request that was sent, even if no response arrived.
    public enum SentBytes: String, Sendable, Hashable, CaseIterable {
        /// No bytes: the server cannot have processed the request.
        case nothing
        /// A part of the request.
        case some
        /// The whole request, or an unknown part that may be the whole.
        case all
    }
}

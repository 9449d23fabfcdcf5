// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// A kind of failure: an open set of fixed strings, the same over every transport.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The fixed string, such as `timedOut`.
        public let rawValue: String

        /// Makes a kind of any string, for providers of your own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The fixed string.
        public var description: String { rawValue }

        /// The route, its URL, a header field or the request cannot be sent; nothing was.
        public static let invalidRequest = Kind(rawValue: "invalidRequest")
        /// The request's body does not encode; nothing was sent.
        public static let encodingFailed = Kind(rawValue: "encodingFailed")
        /// The host's name has no address.
        public static let nameNotResolved = Kind(rawValue: "nameNotResolved")
        /// No connection to the server.
        public static let cannotConnect = Kind(rawValue: "cannotConnect")
        /// TLS failed: a certificate, a pinned key, a protocol version.
        public static let secureConnectionFailed = Kind(rawValue: "secureConnectionFailed")
        /// The connection broke before the response was whole.
        public static let connectionLost = Kind(rawValue: "connectionLost")
        /// What arrived is not HTTP.
        public static let malformedResponse = Kind(rawValue: "malformedResponse")
        /// An attempt took longer than it may.
        public static let timedOut = Kind(rawValue: "timedOut")
        /// No byte arrived for longer than allowed.
        public static let stalled = Kind(rawValue: "stalled")
        /// The call as a whole took longer than it may.
        public static let deadlineExceeded = Kind(rawValue: "deadlineExceeded")
        /// The task was canceled, or the loop over a stream was left.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// A redirect that is not followed, by policy or for safety.
        public static let redirectRefused = Kind(rawValue: "redirectRefused")
        /// More redirects than allowed, or a circle of them.
        public static let tooManyRedirects = Kind(rawValue: "tooManyRedirects")
        /// A status outside the accepted ones.
        public static let unacceptableStatus = Kind(rawValue: "unacceptableStatus")
        /// A media type that was not asked for.
        public static let unacceptableMediaType = Kind(rawValue: "unacceptableMediaType")
        /// The backend reported its own error.
        public static let backendFailure = Kind(rawValue: "backendFailure")
        /// The body does not decode as the value.
        public static let decodingFailed = Kind(rawValue: "decodingFailed")
        /// The body is longer than the limit.
        public static let bodyTooLarge = Kind(rawValue: "bodyTooLarge")
        /// One record of a stream is longer than the limit.
        public static let recordTooLarge = Kind(rawValue: "recordTooLarge")
        /// The body cannot be sent a second time.
        public static let notReplayable = Kind(rawValue: "notReplayable")
        /// There is no credential, or it could not be refreshed.
        public static let credentialsUnavailable = Kind(rawValue: "credentialsUnavailable")
        /// The host is left alone for a while after too many failures.
        public static let circuitOpen = Kind(rawValue: "circuitOpen")
        /// The call asked for what a cache has, and that has nothing which may be used; nothing was sent.
        public static let notCached = Kind(rawValue: "notCached")
        /// A test double has no answer to the request.
        public static let unmatched = Kind(rawValue: "unmatched")
        /// Anything else; see the underlying error.
        public static let other = Kind(rawValue: "other")
    }
}

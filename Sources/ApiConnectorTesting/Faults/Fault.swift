// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A fault in one exchange: its effect and its place.
///
/// ```swift
/// Fault(.reset, at: .head)
/// Fault(.status(503, retryAfter: .seconds(2)), at: .beforeSending)
/// Fault("truncated@12")
/// ```
public struct Fault: Sendable, Hashable {
    /// The place of a fault in an exchange.
    public enum Place: Sendable, Hashable {
        /// Before the request reaches the server. The wrapped provider is not called.
        case beforeSending
        /// After the server has handled the request, before the head of its response is complete.
        case head
        /// After this number of body bytes. In a shorter body, at its end.
        case byte(Int)
        /// After the last byte of the body, before the transport sees the end.
        case end
    }

    /// The effect of a fault.
    ///
    /// An error has the kind that the transports use for the same event. If the body is collected, the provider throws
    /// the error. If it is streamed, the body throws the error.
    public enum Effect: Sendable, Hashable {
        /// The connection is refused: kind `.cannotConnect`. The place is always before sending.
        case refused
        /// The connection is reset: kind `.connectionLost`.
        case reset
        /// The server stays silent, and the transport gives up after 30 seconds: kind `.timedOut`. At the place
        /// `beforeSending`, no connection is made in this time: kind `.cannotConnect`.
        case timeout
        /// The server stays silent forever; a timeout or a cancel must end the call.
        case stall
        /// The server closes the connection too early, and the transport notices: kind `.connectionLost`.
        case truncated
        /// The next bytes are not HTTP, such as a chunk without a length: kind `.malformedResponse`.
        case malformed
        /// A page of HTML with this status replaces the server's response. A place in the body becomes the head.
        ///
        /// `Retry-After` is rounded up to whole seconds, from 0 to one year. There is none by default.
        case status(HTTPStatus, retryAfter: Duration? = nil)
        /// Bytes that are not valid UTF-8 replace the rest of the body, without an error. The body keeps its
        /// size. If the place is the end of the body, 16 such bytes are added. At the head, the effect is an error of
        /// kind `.malformedResponse`.
        case garbage
    }

    /// The effect.
    public let effect: Effect

    /// The place.
    public let place: Place

    /// Makes a fault.
    ///
    /// If the effect is not possible at the place, the nearest possible place is used.
    public init(_ effect: Effect, at place: Place) {
        switch (effect, place) {
        case (.refused, _):
            self.effect = effect
            self.place = .beforeSending
        case (.status(let status, let wait), _):
            self.effect = .status(status, retryAfter: wait.map(Self.wholeSeconds))
            self.place = place == .beforeSending ? .beforeSending : .head
        case (_, .byte(let count)):
            self.effect = effect
            self.place = .byte(max(count, 0))
        default:
            self.effect = effect
            self.place = place
        }
    }

    private static func wholeSeconds(_ wait: Duration) -> Duration {
        let year = Duration.seconds(365 * 86_400)
        return .seconds(Int64((min(max(wait, .zero), year) / .seconds(1)).rounded(.up)))
    }

    /// The timeout of the simulated transport: 30 seconds, on the request's time source.
    static let timeout = Duration.seconds(30)
}

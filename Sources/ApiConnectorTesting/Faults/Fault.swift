// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What goes wrong with one exchange of request and response, and where.
///
/// ```swift
/// Fault(.reset, at: .head)
/// Fault(.status(503, retryAfter: .seconds(2)), at: .beforeSending)
/// Fault("truncated@12")
/// ```
public struct Fault: Sendable, Hashable {
    /// Where in an exchange it goes wrong.
    public enum Place: Sendable, Hashable {
        /// Before the request has reached the server, which never hears of it: the provider inside is not asked.
        case beforeSending
        /// After the server has done its work, before the head of its response is whole.
        case head
        /// After this number of bytes of the body; at its end if it is shorter.
        case byte(Int)
        /// After the last byte of the body, before the transport knows that it was the last.
        case end
    }

    /// What goes wrong.
    ///
    /// An error is of the kind that the transports use for the same event, thrown where they throw it: by the provider
    /// for a body that is collected, by the body for one that is streamed.
    public enum Effect: Sendable, Hashable {
        /// Nobody accepts the connection: kind `.cannotConnect`. It is always before sending.
        case refused
        /// The connection is reset: kind `.connectionLost`.
        case reset
        /// Nothing more comes, and the transport gives up 30 seconds later: kind `.timedOut`; before sending, where it
        /// is the connecting that takes too long, kind `.cannotConnect`.
        case timeout
        /// Nothing more comes, ever; a limit of time or a cancel has to end it.
        case stall
        /// The server closes the connection, and the transport knows that something is missing: kind `.connectionLost`.
        case truncated
        /// What comes next is not HTTP, such as a chunk without a length: kind `.malformedResponse`.
        case malformed
        /// Another answer in place of the server's, a page of HTML; behind the head's place it counts as at the head.
        ///
        /// `Retry-After` is in whole seconds, rounded up, from 0 to a year; without it by default.
        case status(HTTPStatus, retryAfter: Duration? = nil)
        /// In place of what the server sent come bytes that are no text in UTF-8, and no error: as many as there were,
        /// and 16 more at the end. In place of a head it is kind `.malformedResponse`.
        case garbage
    }

    /// What goes wrong.
    public let effect: Effect

    /// Where.
    public let place: Place

    /// Makes a fault; a place that the effect cannot have becomes the nearest that it can.
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

    /// How long a transport waits before it gives up: 30 seconds, on the request's time source.
    static let timeout = Duration.seconds(30)
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a caller receives a response's body.
public enum ResponseDelivery: Sendable, Hashable {
    /// The whole body, up to this number of bytes; a longer body fails with kind `.bodyTooLarge`.
    case collected(upTo: Int)

    /// As a stream: the provider returns the response when its head arrives, and the reader pulls the chunks of
    /// ``ApiResponse/body``.
    case streamed

    /// Collected, up to 64 MiB.
    public static let standard = ResponseDelivery.collected(upTo: 64 * 1024 * 1024)

    /// The maximum size of the body in bytes; no limit for a streamed body, because its reader can apply one.
    public var maximumByteCount: Int {
        switch self {
        case .collected(upTo: let count): count
        case .streamed: .max
        }
    }
}

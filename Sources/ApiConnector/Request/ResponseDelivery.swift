// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a caller wants a response's body.
public enum ResponseDelivery: Sendable, Hashable {
    /// The whole body, of at most this number of bytes; a longer body fails with kind `.bodyTooLarge`.
    case collected(upTo: Int)

    /// As it comes: ``ApiResponse/body`` is there with the head, its chunks are pulled.
    case streamed

    /// Collected, up to 64 MiB.
    public static let standard = ResponseDelivery.collected(upTo: 64 * 1024 * 1024)

    /// The most bytes that the body may have; no limit for a streamed one, whose reader sets it.
    public var maximumByteCount: Int {
        switch self {
        case .collected(upTo: let count): count
        case .streamed: .max
        }
    }
}

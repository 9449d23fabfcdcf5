// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How far a body has come, up or down.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes have come through so far.
    public let byteCount: Int

    /// How many there are in all; nil where that is not known.
    public let totalByteCount: Int?

    /// How fast they came during the last 5 seconds; nil for the first tenth of a second.
    public let bytesPerSecond: Double?

    /// Makes a value, such as for a preview.
    public init(byteCount: Int, totalByteCount: Int? = nil, bytesPerSecond: Double? = nil) {
        self.byteCount = byteCount
        self.totalByteCount = totalByteCount
        self.bytesPerSecond = bytesPerSecond
    }

    /// The part that is done, from 0 to 1; nil where the total is not known.
    public var fractionCompleted: Double? {
        totalByteCount.map { $0 > 0 ? min(Double(byteCount) / Double($0), 1) : 1 }
    }

    /// How long the rest takes at the present speed; nil where speed or total are not known, and above ten years.
    public var remainingTime: Duration? {
        guard let totalByteCount, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // What a server announces may be any number, and more seconds than a Duration can hold.
        let seconds = max(Double(totalByteCount) - Double(byteCount), 0) / bytesPerSecond
        return seconds <= 315_576_000 ? .seconds(seconds) : nil
    }
}

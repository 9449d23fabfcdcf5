// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The progress of an upload or a download.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes transferred so far.
    public let byteCount: Int

    /// The total number of bytes; nil if unknown.
    public let totalByteCount: Int?

    /// The speed during the last 5 seconds; nil for the first tenth of a second.
    public let bytesPerSecond: Double?

    /// Makes a value, for example for a preview.
    public init(byteCount: Int, totalByteCount: Int? = nil, bytesPerSecond: Double? = nil) {
        self.byteCount = byteCount
        self.totalByteCount = totalByteCount
        self.bytesPerSecond = bytesPerSecond
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    public var fractionCompleted: Double? {
        totalByteCount.map { $0 > 0 ? min(Double(byteCount) / Double($0), 1) : 1 }
    }

    /// The estimated time for the rest at the current speed.
    ///
    /// It is nil if the total is unknown, if the speed is unknown or 0, or if the time exceeds ten years.
    public var remainingTime: Duration? {
        guard let totalByteCount, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // A server can announce any length, and the result could exceed the range of Duration.
        let seconds = max(Double(totalByteCount) - Double(byteCount), 0) / bytesPerSecond
        return seconds <= 315_576_000 ? .seconds(seconds) : nil
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The speed of a transfer during the last seconds, from at most a dozen samples half a second apart.
struct TransferRate: Sendable {
    private static let span = Duration.seconds(5)
    private static let step = Duration.milliseconds(500)
    private static let shortest = Duration.milliseconds(100)

    private var samples: [(time: Duration, byteCount: Int)]

    /// Starts measuring.
    init(from byteCount: Int, at now: Duration) {
        samples = [(now, byteCount)]
    }

    /// Records a new count and returns the speed in bytes per second; nil while the measured time is too short.
    ///
    /// If the count is lower than the last one, the measurement starts over.
    mutating func record(_ byteCount: Int, at now: Duration) -> Double? {
        if let last = samples.last, byteCount >= last.byteCount {
            if now - last.time >= Self.step { samples.append((now, byteCount)) }
            while samples.count > 2, now - samples[1].time >= Self.span { samples.removeFirst() }
        } else {
            samples = [(now, byteCount)]
        }
        let elapsed = now - samples[0].time
        guard elapsed >= Self.shortest else { return nil }
        return Double(byteCount - samples[0].byteCount) / (elapsed / .seconds(1))
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The clocks of the system.
public struct SystemTimeSource: TimeSource {
    private static let start = ContinuousClock.now

    /// Makes the source; all such sources share one scale, which starts with the first use in the process.
    public init() {}

    /// The time on the system's continuous clock since this scale started.
    public var now: Duration { Self.start.duration(to: .now) }

    /// The system's date.
    public var date: Date { Date() }

    /// Waits on the system's continuous clock.
    public func sleep(until deadline: Duration) async throws {
        // The clock traps if its nanoseconds overflow, after 292 years.
        try await Task.sleep(until: Self.start.advanced(by: min(deadline, .year * 200)), clock: .continuous)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Lays limits of time around a provider; see ``DataRequestType/timeLimiting(attempt:stall:overall:)``.
struct TimeLimited<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let timeouts: Timeouts

    init(_ wrapped: Wrapped, _ timeouts: Timeouts) {
        self.wrapped = wrapped
        self.timeouts = timeouts.applied
    }

    /// Sends a request within the limits.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.timedOut`, `.stalled` or `.deadlineExceeded` when a limit is reached.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        let start = request.timeSource.now
        if let overall = timeouts.overall { request.deadline = Self.shorter(request.deadline, start + overall) }
        var limits = request.timeouts
        limits.attempt = Self.shorter(limits.attempt, timeouts.attempt)
        limits.stall = Self.shorter(limits.stall, timeouts.stall)
        if limits != request.timeouts { request.timeouts = limits }
        do throws(ApiConnectorError) {
            return try await wrapped.response(for: request).limitedInTime(as: request).collectedIfWanted(by: request)
        } catch {
            guard let overall = timeouts.overall, let deadline = request.deadline, deadline <= request.timeSource.now,
                deadline == start + overall
            else { throw error }
            throw error.naming(overall, "timeLimiting(overall:)")
        }
    }

    private static func shorter(_ one: Duration?, _ other: Duration?) -> Duration? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

extension DataRequestType {
    /// This provider within limits of time; one that is nil, the default of each, is not set here.
    ///
    /// They hold for streams as for collected bodies, and compose with the connection's and with those of other
    /// wrappers: the shorter wins. The time is the connection's: ``ApiRequest/timeSource``. Round `retrying`, the
    /// limits on attempt and stall hold for each attempt and the overall limit for all of them; inside it, all three hold for
    /// one attempt.
    ///
    /// ```swift
    /// let provider = SystemProvider().timeLimiting(attempt: .seconds(10), stall: .seconds(5)).retrying()
    /// ```
    ///
    /// - Parameters:
    ///   - attempt: The longest that one attempt may take, to the end of its body; past it kind `.timedOut`.
    ///   - stall: The longest silence; past it kind `.stalled`.
    ///   - overall: The longest that everything inside may take, to the end of the body; past it kind
    ///     `.deadlineExceeded`.
    public func timeLimiting(
        attempt: Duration? = nil,
        stall: Duration? = nil,
        overall: Duration? = nil
    ) -> some DataRequestType {
        TimeLimited(self, Timeouts(attempt: attempt, stall: stall, overall: overall))
    }

    /// As ``timeLimiting(attempt:stall:overall:)``.
    @available(*, deprecated, renamed: "timeLimiting(attempt:stall:overall:)")
    public func timeLimiting(
        attempt: Duration? = nil,
        stall: Duration? = nil,
        total: Duration?
    ) -> some DataRequestType {
        timeLimiting(attempt: attempt, stall: stall, overall: total)
    }
}

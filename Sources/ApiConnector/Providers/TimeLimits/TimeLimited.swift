// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Applies time limits to a provider; made by ``DataRequestType/timeLimiting(attempt:stall:overall:)``.
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
            return try await wrapped.response(for: request).watched(as: request).collectedIfWanted(by: request)
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
    /// Returns a provider that applies time limits; a limit of nil, the default, does not apply.
    ///
    /// The limits apply to streams and to collected bodies. If the connection or another wrapper also sets a limit, the
    /// shortest one applies. The time source is the connection's, ``ApiRequest/timeSource``.
    ///
    /// Around `retrying`, the attempt and stall limits apply to each attempt, and the overall limit applies to all
    /// attempts together. Inside `retrying`, all three apply to one attempt.
    ///
    /// ```swift
    /// let provider = SystemProvider().timeLimiting(attempt: .seconds(10), stall: .seconds(5)).retrying()
    /// ```
    ///
    /// - Parameters:
    ///   - attempt: The time limit of an attempt, including its body; exceeding it fails with kind `.timedOut`.
    ///   - stall: The maximum time without data; exceeding it fails with kind `.stalled`.
    ///   - overall: The time limit of everything inside this wrapper, including the body; exceeding it fails with kind
    ///     `.deadlineExceeded`.
    public func timeLimiting(
        attempt: Duration? = nil,
        stall: Duration? = nil,
        overall: Duration? = nil
    ) -> some DataRequestType {
        TimeLimited(self, Timeouts(attempt: attempt, stall: stall, overall: overall))
    }

    /// Like ``timeLimiting(attempt:stall:overall:)``.
    @available(*, deprecated, renamed: "timeLimiting(attempt:stall:overall:)")
    public func timeLimiting(
        attempt: Duration? = nil,
        stall: Duration? = nil,
        total: Duration?
    ) -> some DataRequestType {
        timeLimiting(attempt: attempt, stall: stall, overall: total)
    }
}

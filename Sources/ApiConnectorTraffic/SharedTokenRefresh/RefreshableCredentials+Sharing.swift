// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension RefreshableCredentials {
    /// Makes a source of credentials that shares its refreshes with other processes.
    ///
    /// - If a new session has already expired by this process's clock, the clock is ahead. From then on, a stored
    ///   session is used until a server refuses it.
    /// - While the shared state is unavailable, the calls that wait for a refresh report the event
    ///   `custom("sharedStateUnavailable")`. If the refresh fails, they fail with kind `.credentialsUnavailable`, and
    ///   the underlying error has kind `.sharedStateUnavailable`.
    ///
    /// - Parameters:
    ///   - shared: The session.
    ///   - margin: How long before its expiry a credential is replaced; 30 seconds by default.
    ///   - limit: The largest number of refreshes; 5 within 30 seconds by default. Using another process's new session
    ///     counts as a refresh.
    ///   - timeLimit: The longest time for one refresh, including the wait for another process; 30 seconds by default.
    ///     It is also the longest time for which this process renews its lease.
    ///   - timeSource: The clock; ``/ApiConnector/TimeSource/system`` by default.
    ///   - credential: Makes the credential of a session.
    ///   - refresh: Makes a new session from the stored one, which is nil if no user is signed in.
    public convenience init<Session: Codable & Sendable>(
        sharing shared: SharedSession<Session>,
        margin: Duration = .seconds(30),
        limit: RefreshableCredentials.Limit = RefreshableCredentials.Limit(),
        timeLimit: Duration = .seconds(30),
        timeSource: any TimeSource = .system,
        credential: @escaping @Sendable (Session) -> ApiCredential,
        refreshing refresh: @escaping @Sendable (Session?) async throws -> Session
    ) {
        let isClockAhead = Protected(false)
        self.init(margin: margin, limit: limit, timeLimit: timeLimit, timeSource: timeSource) { _ in
            let session = try await shared.refreshed(renewingFor: timeLimit) { session in
                guard let expiry = credential(session).expiry, !isClockAhead.withLock({ $0 }) else { return true }
                return timeSource.date.addingTimeInterval(margin / .seconds(1)) < expiry
            } by: { session in
                try await refresh(session)
            }
            var new = credential(session)
            let isExpired = new.expiry.map { $0 <= timeSource.date } ?? false
            isClockAhead.withLock { $0 = isExpired }
            // With the expiry, this process would refresh for each call.
            if isExpired { new.expiry = nil }
            return new
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A credential that is replaced when it grows old or a server refuses it, by one refresh for all calls that wait.
///
/// ```swift
/// let session = RefreshableCredentials(.bearer(token)) { _ in
///     let answer = try await accounts.value(Token.self, at: .refresh)
///     return .bearer(answer.token, until: answer.expiry)
/// }
/// let provider = SystemProvider().authenticating(by: session)
/// ```
///
/// - A refresh starts ahead of the expiry, or after a 401. Calls that need it wait, each until its own cancel or limit
///   of time, which the refresh does not notice. If it fails, they fail, unless the old credential still holds.
/// - A call that was refused an older credential than the current one is only sent again.
/// - The refresh is its own task: at most one at a time, canceled at its time limit and by ``signOut()``. One
///   that does not heed its cancel is left behind at the next one's time limit, and what it brings is thrown away.
/// - Requests that the refresh itself sends pass every provider that is authenticated by this source as they are, so
///   that it may use the same connection and can never wait for itself; nor are they retried, whatever retries round
///   them. A task that it starts and that outlives it is no part of it any more.
/// - Past the limit on refreshes the current credential is used as long as it may be good: a server that answers 401
///   for another reason than its age causes no storm, and its 401 is delivered.
public final class RefreshableCredentials: CredentialSource {
    private let timers: TimerQueue
    private let timeLimit: Duration
    private let refresh: @Sendable (ApiCredential?) async throws -> ApiCredential
    private let state: Locked<RefreshState>

    /// Makes a source that is signed in.
    ///
    /// - Parameters:
    ///   - credential: The first credential; nil, the default, has the first call refresh.
    ///   - margin: How long before its expiry a credential is replaced; 30 seconds by default.
    ///   - limit: How many refreshes there may be; 5 within 30 seconds by default.
    ///   - timeLimit: How long one refresh may take; 30 seconds by default.
    ///   - timeSource: Where the time comes from; ``TimeSource/system`` by default.
    ///   - refresh: Makes a credential in place of the one that it is handed.
    public init(
        _ credential: ApiCredential? = nil,
        margin: Duration = .seconds(30),
        limit: RefreshLimit = RefreshLimit(),
        timeLimit: Duration = .seconds(30),
        timeSource: any TimeSource = .system,
        refreshing refresh: @escaping @Sendable (ApiCredential?) async throws -> ApiCredential
    ) {
        self.timers = TimerQueue.on(timeSource)
        self.timeLimit = timeLimit
        self.refresh = refresh
        self.state = Locked(RefreshState(credential, margin: margin, limit: limit))
    }

    /// The current credential, refreshed if need be.
    ///
    /// Nil for a request that the refresh itself sends, and for one that has the header field already that the
    /// credentials go by, `Authorization` as long as there was none: such a call goes as it is, and works after
    /// ``signOut()`` too.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.credentialsUnavailable`, or what ended the wait.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        if request.values.credentialRefreshes.contain(self) || CredentialRefreshes.current.contain(self) { return nil }
        let now = timers.timeSource.now
        let date = timers.timeSource.date
        let decision = state.withLock { state in
            let decision = state.decide(for: request.headers, now: now, date: date)
            if case .start(let number, _, let old) = decision {
                state.begin { task(number, replacing: old, after: $0) }
            }
            return decision
        }
        switch decision {
        case .use(let credential): return credential
        case .none: return nil
        case .fail(let error): throw error
        case .start(let number, let waiter, _):
            limit(number)
            return try await wait(as: waiter, of: request, .refreshStarted)
        case .join(let waiter):
            return try await wait(as: waiter, of: request, .refreshJoined)
        }
    }

    /// Records that a server refused a credential.
    public func refuse(_ credential: ApiCredential) {
        state.withLock { $0.refuse(credential) }
    }

    /// Forgets the credential: every call that waits, and every later one, fails with kind `.credentialsUnavailable`,
    /// and a refresh under way is canceled.
    public func signOut() {
        state.withLock { $0.signOut() }.carryOut(timers)
    }

    /// Takes another credential, after ``signOut()`` or in place of the current one; calls that wait are sent with it,
    /// and a refresh under way is canceled.
    public func signIn(_ credential: ApiCredential) {
        state.withLock { $0.signIn(credential) }.carryOut(timers)
    }

    private func wait(
        as waiter: RefreshWaiter,
        of request: ApiRequest,
        _ event: CredentialEvent
    ) async throws(ApiConnectorError) -> ApiCredential {
        request.report(.credentials(event))
        let outcome = await request.withDeadline {
            await waiter.result()
        } onStop: { [self] error in
            waiter.resume(with: .failure(error))
            state.withLock { $0.forget(waiter) }
        }
        switch outcome {
        case .success(let credential):
            request.report(.credentials(credential.isFresh ? .refreshed : .kept))
            return credential
        case .failure(let error):
            // Any other is what ended the wait: the call's own cancel or limit of time.
            if error.kind == .credentialsUnavailable { request.report(.credentials(.unavailable)) }
            throw error
        }
    }

    private func task(
        _ number: Int,
        replacing old: ApiCredential?,
        after predecessor: Task<Void, Never>?
    ) -> Task<Void, Never> {
        let mark = CredentialRefresh(of: self)
        return Task {
            await predecessor?.value
            // Who has canceled it has told the waiters.
            if Task.isCancelled { return }
            let outcome: Result<ApiCredential, ApiConnectorError>
            do {
                outcome = .success(try await mark.during { try await refresh(old) })
            } catch {
                outcome = .failure(.credentialsUnavailable("the credential could not be refreshed", because: error))
            }
            finish(number, outcome)
        }
    }

    private func limit(_ number: Int) {
        let detail = "the refresh of the credential did not finish within \(timeLimit)"
        let entry = timers.add(at: timers.timeSource.now + timeLimit) { [weak self] in
            guard let self else { return }
            let date = timers.timeSource.date
            state.withLock { $0.giveUp(number, .credentialsUnavailable(detail), date: date) }.carryOut(timers)
        }
        state.withLock { $0.limit(number, by: entry) }.carryOut(timers)
    }

    private func finish(_ number: Int, _ outcome: Result<ApiCredential, ApiConnectorError>) {
        let date = timers.timeSource.date
        state.withLock { $0.finish(number, outcome, date: date) }.carryOut(timers)
    }
}

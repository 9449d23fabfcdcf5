// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A credential that is refreshed before it expires, and after a server has refused it.
///
/// All waiting calls share one refresh.
///
/// ```swift
/// let session = RefreshableCredentials(.bearer(token)) { _ in
///     let answer = try await accounts.value(Token.self, at: .refresh)
///     return .bearer(answer.token, until: answer.expiry)
/// }
/// let provider = SystemProvider().authenticating(by: session)
/// ```
///
/// ## When a refresh starts
///
/// A call starts a refresh if the credential is about to expire, or after a 401. If the server refused an older
/// credential than the current one, the call is sent again with the current one, without a refresh.
///
/// ## Calls that wait
///
/// All calls that need the refresh wait for it. A cancellation or a time limit ends the wait of one call, not the
/// refresh. If the refresh fails, the calls fail, unless the old credential is still valid.
///
/// ## The refresh itself
///
/// - Only one refresh runs at a time, in its own task. Its time limit, ``signOut()`` and ``signIn(_:)`` cancel it.
/// - The result of a canceled refresh is discarded. If a canceled refresh continues to run, the next refresh first
///   waits for it to end. This wait counts toward the time limit of the next refresh.
/// - The providers that use this source add no credential to the requests of the refresh. So the refresh can use the
///   same connection, and never waits for itself.
/// - The requests of the refresh are not retried.
/// - A task that the refresh starts belongs to it only until the refresh ends.
///
/// ## The limit on refreshes
///
/// When the limit is reached, calls use the current credential. They fail only if the last refresh failed and the
/// credential was refused or has expired. So a server that returns 401 for a reason other than the credential's age
/// does not cause a storm of refreshes; the call gets the 401.
public final class RefreshableCredentials: CredentialSource {
    private let timers: TimerQueue
    private let timeLimit: Duration
    private let refresh: @Sendable (ApiCredential?) async throws -> ApiCredential
    private let state: Locked<RefreshState>

    /// Makes a source that is signed in.
    ///
    /// - Parameters:
    ///   - credential: The first credential; nil, the default, starts a refresh with the first call.
    ///   - margin: How long before the expiry a credential is refreshed; 30 seconds by default.
    ///   - limit: The limit on the number of refreshes; 5 within 30 seconds by default.
    ///   - timeLimit: The time limit of a refresh; 30 seconds by default.
    ///   - timeSource: The source of the time; ``TimeSource/system`` by default.
    ///   - refresh: Returns a new credential. Its parameter is the credential to replace.
    public init(
        _ credential: ApiCredential? = nil,
        margin: Duration = .seconds(30),
        limit: RefreshableCredentials.Limit = RefreshableCredentials.Limit(),
        timeLimit: Duration = .seconds(30),
        timeSource: any TimeSource = .system,
        refreshing refresh: @escaping @Sendable (ApiCredential?) async throws -> ApiCredential
    ) {
        self.timers = TimerQueue.on(timeSource)
        self.timeLimit = timeLimit
        self.refresh = refresh
        self.state = Locked(RefreshState(credential, margin: margin, limit: limit))
    }

    /// Returns the current credential, after a refresh if necessary.
    ///
    /// Returns nil for:
    ///
    /// - a request of the refresh itself
    /// - a request that already has the credential's header field; such a request is sent unchanged, even after
    ///   ``signOut()``
    ///
    ///   Until the source has had a credential, that header field is `Authorization`.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.credentialsUnavailable`, or the error that ended the wait.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        if request.isCredentialRefresh(of: self) { return nil }
        let now = timers.timeSource.now
        let date = timers.timeSource.date
        let decision = state.withLock { state in
            let decision = state.decide(for: request.headers, now: now, date: date)
            if case .start(let number, _, let old, let events) = decision {
                state.begin { task(number, replacing: old, after: $0, events) }
            }
            return decision
        }
        switch decision {
        case .use(let credential): return credential
        case .sendUnchanged: return nil
        case .fail(let error): throw error
        case .start(let number, let waiter, _, let events):
            startTimer(of: number, at: now + timeLimit)
            return try await wait(as: waiter, of: request, .refreshStarted, events)
        case .join(let waiter, let events):
            return try await wait(as: waiter, of: request, .refreshJoined, events)
        }
    }

    /// Records that a server refused a credential.
    public func refuse(_ credential: ApiCredential) {
        state.withLock { $0.refuse(credential) }
    }

    /// Discards the credential and cancels a running refresh.
    ///
    /// All waiting and later calls fail with kind `.credentialsUnavailable`.
    public func signOut() {
        state.withLock { $0.signOut() }.carryOut(timers)
    }

    /// Sets a new credential, and cancels a running refresh; also works after ``signOut()``.
    ///
    /// Waiting calls are sent with the new credential.
    public func signIn(_ credential: ApiCredential) {
        state.withLock { $0.signIn(credential) }.carryOut(timers)
    }

    private func wait(
        as waiter: RefreshWaiter,
        of request: ApiRequest,
        _ event: CallEvent.CredentialUse,
        _ events: RefreshEvents
    ) async throws(ApiConnectorError) -> ApiCredential {
        request.report(.credentials(event))
        let outcome = await request.withDeadline {
            await waiter.result()
        } onStop: { [self] error in
            waiter.resume(with: .failure(error))
            state.withLock { $0.forget(waiter) }
        }
        for event in events.all { request.report(event) }
        switch outcome {
        case .success(let credential):
            request.report(.credentials(credential.isFresh ? .refreshed : .kept))
            return credential
        case .failure(let error):
            // Any other kind is the call's own cancellation or time limit.
            if error.kind == .credentialsUnavailable { request.report(.credentials(.unavailable)) }
            throw error
        }
    }

    private func task(
        _ number: Int,
        replacing old: ApiCredential?,
        after predecessor: Task<Void, Never>?,
        _ events: RefreshEvents
    ) -> Task<Void, Never> {
        Task {
            await predecessor?.value
            // The code that canceled the task has already resumed the waiting calls.
            if Task.isCancelled { return }
            if predecessor != nil { state.withLock { $0.forgetPredecessor(of: number) } }
            let outcome: Result<ApiCredential, ApiConnectorError>
            do {
                let new = try await RefreshEvents.$current.withValue(events) {
                    try await ApiRequest.markingCredentialRefresh(of: self) { try await refresh(old) }
                }
                outcome = .success(new)
            } catch {
                outcome = .failure(.credentialsUnavailable("the credential could not be refreshed", because: error))
            }
            finish(number, outcome)
        }
    }

    /// Ends a refresh at its time limit.
    ///
    /// The refresh already runs, so its limit counts from the time of its start. The current time may be later.
    private func startTimer(of number: Int, at due: Duration) {
        let detail = "the refresh of the credential did not finish within \(timeLimit)"
        let entry = timers.add(at: due) { [weak self] in
            guard let self else { return }
            let date = timers.timeSource.date
            state.withLock { $0.abandon(number, .credentialsUnavailable(detail), date: date) }.carryOut(timers)
        }
        state.withLock { $0.keepTimer(entry, of: number) }.carryOut(timers)
    }

    private func finish(_ number: Int, _ outcome: Result<ApiCredential, ApiConnectorError>) {
        let date = timers.timeSource.date
        state.withLock { $0.finish(number, outcome, date: date) }.carryOut(timers)
    }
}

extension RefreshableCredentials {
    /// Limits the number of refreshes, so that a server that refuses every credential does not cause endless refreshes.
    public struct Limit: Sendable, Hashable {
        /// The maximum number of refreshes that may start within ``duration``.
        public var count: Int

        /// The length of the sliding window.
        public var duration: Duration

        /// Makes a limit; 5 within 30 seconds by default.
        public init(_ count: Int = 5, within duration: Duration = .seconds(30)) {
            self.count = count
            self.duration = duration
        }
    }
}

extension RefreshableCredentials {
    /// Reports an event of a refresh to the observers of all calls that wait for it.
    ///
    /// A call reports the event when its wait ends. Call this method in the task of a refresh, or in a task that the
    /// refresh starts. In other tasks it does nothing. One refresh reports at most 16 events.
    ///
    /// ```swift
    /// let session = RefreshableCredentials { _ in
    ///     RefreshableCredentials.report(.custom("tokenServer", details: ["name": "backup"]))
    ///     return try await backup.token()
    /// }
    /// ```
    ///
    /// - Parameter event: The event, such as ``CallEvent/Kind/custom(_:details:)``.
    public static func report(_ event: CallEvent.Kind) {
        RefreshEvents.current?.append(event)
    }
}

/// The events that one refresh of ``RefreshableCredentials`` reports to the calls that wait for it.
final class RefreshEvents: Sendable {
    /// The events of the refresh that this task belongs to.
    @TaskLocal static var current: RefreshEvents?

    /// Further events are dropped.
    static let maximumCount = 16

    private let kinds = Locked<[CallEvent.Kind]>([])

    /// The events so far, in the order in which they were reported.
    var all: [CallEvent.Kind] { kinds.withLock { $0 } }

    func append(_ kind: CallEvent.Kind) {
        kinds.withLock { kinds in
            if kinds.count < Self.maximumCount { kinds.append(kind) }
        }
    }
}

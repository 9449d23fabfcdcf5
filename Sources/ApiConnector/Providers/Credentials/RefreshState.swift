// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Holds the state of ``RefreshableCredentials``, and makes its decisions.
struct RefreshState {
    /// How a call gets its credential.
    enum Decision {
        case use(ApiCredential)
        /// The request has its own credential.
        case sendUnchanged
        case fail(ApiConnectorError)
        /// The call starts the refresh with this number, to replace this credential, and waits for the result.
        case start(number: Int, waiter: RefreshWaiter, replacing: ApiCredential?, events: RefreshEvents)
        case join(RefreshWaiter, RefreshEvents)
    }

    private struct Refresh {
        let number: Int
        let events = RefreshEvents()
        var waiters: [ObjectIdentifier: RefreshWaiter] = [:]
        /// The previous refresh, if it was abandoned; nil once it has ended.
        var predecessor: Task<Void, Never>?
        var task: Task<Void, Never>?
        var timeLimit: TimerQueue.Entry?
    }

    private let margin: Duration
    private let limit: RefreshableCredentials.Limit
    private var credential: ApiCredential?
    /// The name of the header field that credentials use; nil if they use another place.
    ///
    /// Until there has been a credential, it is `Authorization`.
    private var fieldName: HTTPHeaders.Name? = .authorization
    private var isSignedOut = false
    /// The newest version that a server has refused.
    private var refusedVersion = 0
    private var lastVersion = 0
    private var lastNumber = 0
    private var refresh: Refresh?
    /// The previous refresh, if it was abandoned: the next refresh waits for it to end.
    private var abandoned: Task<Void, Never>?
    /// The start times of the refreshes within the window; at most as many as the limit allows.
    private var starts: [Duration] = []
    /// Why the last refresh failed; nil if it did not.
    private var failure: ApiConnectorError?

    init(_ credential: ApiCredential?, margin: Duration, limit: RefreshableCredentials.Limit) {
        self.margin = margin
        self.limit = limit
        if let credential { keep(credential) }
    }

    mutating func decide(for headers: HTTPHeaders, now: Duration, date: Date) -> Decision {
        if let fieldName, headers.contains(fieldName) { return .sendUnchanged }
        guard !isSignedOut else { return .fail(Self.signedOut) }
        if let credential, !isRefused(credential), !credential.expires(within: margin, of: date) {
            return .use(credential)
        }
        let waiter = RefreshWaiter()
        if let events = refresh?.events {
            refresh?.waiters[ObjectIdentifier(waiter)] = waiter
            return .join(waiter, events)
        }
        starts = starts.filter { now - $0 < limit.duration }
        if starts.count < limit.count {
            starts.append(now)
            lastNumber += 1
            let waiters = [ObjectIdentifier(waiter): waiter]
            let new = Refresh(number: lastNumber, waiters: waiters, predecessor: abandoned.take())
            refresh = new
            return .start(number: lastNumber, waiter: waiter, replacing: credential, events: new.events)
        }
        if let credential, failure == nil || isUsable(credential, date) { return .use(credential) }
        return .fail(failure ?? .credentialsUnavailable("the credential was refreshed too often"))
    }

    mutating func refuse(_ credential: ApiCredential) {
        refusedVersion = max(refusedVersion, min(credential.version, lastVersion))
    }

    mutating func forget(_ waiter: RefreshWaiter) {
        refresh?.waiters[ObjectIdentifier(waiter)] = nil
    }

    /// Starts the task of the refresh.
    mutating func begin(_ start: (_ predecessor: Task<Void, Never>?) -> Task<Void, Never>) {
        let task = start(refresh?.predecessor)
        refresh?.task = task
    }

    /// Records that the predecessor of a refresh has ended.
    mutating func forgetPredecessor(of number: Int) {
        if refresh?.number == number { refresh?.predecessor = nil }
    }

    /// Sets the timer of a refresh, unless the refresh has already ended.
    mutating func keepTimer(_ timeLimit: TimerQueue.Entry, of number: Int) -> RefreshEnd {
        guard refresh?.number == number else { return RefreshEnd(timeLimit: timeLimit) }
        refresh?.timeLimit = timeLimit
        return RefreshEnd()
    }

    /// Abandons a refresh that took too long.
    ///
    /// The next refresh waits for it to end, unless the abandoned refresh itself still waits for its predecessor.
    mutating func abandon(_ number: Int, _ error: ApiConnectorError, date: Date) -> RefreshEnd {
        guard let over = refresh, over.number == number else { return RefreshEnd() }
        abandoned = over.predecessor == nil ? over.task : nil
        return finish(number, .failure(error), date: date)
    }

    mutating func finish(
        _ number: Int,
        _ outcome: Result<ApiCredential, ApiConnectorError>,
        date: Date
    ) -> RefreshEnd {
        guard refresh?.number == number else { return RefreshEnd() }
        switch outcome {
        case .success(let new):
            failure = nil
            var fresh = keep(new)
            fresh.isFresh = true
            return end(.success(fresh))
        case .failure(let error):
            failure = error
            if let credential, isUsable(credential, date) { return end(.success(credential)) }
            return end(outcome)
        }
    }

    /// Signs out.
    ///
    /// The canceled refresh may itself wait for its predecessor. The next refresh waits for both.
    mutating func signOut() -> RefreshEnd {
        isSignedOut = true
        credential = nil
        abandoned = refresh?.task ?? abandoned
        return end(.failure(Self.signedOut))
    }

    /// Signs in; a canceled refresh is treated as in ``signOut()``.
    mutating func signIn(_ new: ApiCredential) -> RefreshEnd {
        isSignedOut = false
        failure = nil
        starts = []
        abandoned = refresh?.task ?? abandoned
        var fresh = keep(new)
        fresh.isFresh = true
        return end(.success(fresh))
    }

    @discardableResult
    private mutating func keep(_ new: ApiCredential) -> ApiCredential {
        lastVersion += 1
        var new = new
        new.version = lastVersion
        credential = new
        fieldName = new.fieldName
        return new
    }

    private mutating func end(_ outcome: Result<ApiCredential, ApiConnectorError>) -> RefreshEnd {
        guard let over = refresh.take() else { return RefreshEnd() }
        return RefreshEnd(
            task: over.task,
            timeLimit: over.timeLimit,
            waiters: Array(over.waiters.values),
            outcome: outcome
        )
    }

    private func isRefused(_ credential: ApiCredential) -> Bool { credential.version <= refusedVersion }

    private func isUsable(_ credential: ApiCredential, _ date: Date) -> Bool {
        !isRefused(credential) && !credential.expires(within: .zero, of: date)
    }

    private static var signedOut: ApiConnectorError { .credentialsUnavailable("no user is signed in") }
}

/// The actions to run outside the lock when a refresh ends.
struct RefreshEnd {
    var task: Task<Void, Never>?
    var timeLimit: TimerQueue.Entry?
    var waiters: [RefreshWaiter] = []
    var outcome: Result<ApiCredential, ApiConnectorError>?

    func carryOut(_ timers: TimerQueue) {
        if let timeLimit { timers.remove(timeLimit) }
        // Has no effect on a task that has already ended.
        task?.cancel()
        guard let outcome else { return }
        for waiter in waiters { waiter.resume(with: outcome) }
    }
}

/// A call that waits for a refresh.
typealias RefreshWaiter = PendingResult<ApiCredential>

extension ApiCredential {
    fileprivate func expires(within margin: Duration, of date: Date) -> Bool {
        guard let expiry else { return false }
        return expiry.timeIntervalSince(date) <= margin / .seconds(1)
    }
}

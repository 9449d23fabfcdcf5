// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// A transport runs its work in withTimeLimits(_:), and each wait in withStopHandler(_:readPending:onStop:). A wrapper
// runs its waits in withDeadline(_:onStop:). AttemptWatch ends these waits.

extension ApiRequest {
    /// Whether the time of an attempt is limited, by ``Timeouts/attempt`` or by the call's ``deadline``.
    ///
    /// The stall limit alone does not count.
    ///
    /// ``ApiConnectorError/mapping(_:_:)`` checks this property itself. A provider that responds within microseconds
    /// can check it first. If it is false, the provider can use ``ApiConnectorError/init(mapping:request:)``, which
    /// needs no closure.
    public var isTimeLimited: Bool { deadline != nil || limits?.timeouts.attempt != nil }

    /// Runs a transport's code within this request's ``timeouts`` and ``deadline``, until the end of the response's
    /// body.
    ///
    /// A transport does all its work in this function:
    ///
    /// ```swift
    /// func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
    ///     try await request.withTimeLimits { (request) throws(ApiConnectorError) in try await exchange(request) }
    /// }
    /// ```
    ///
    /// When a limit is reached, it ends a wait in ``withStopHandler(_:readPending:onStop:)`` or
    /// ``ApiConnectorError/mapping(_:_:)``. Nested calls for the same request have no further effect.
    ///
    /// - Parameter send: Sends the request in its parameter, once. That request knows its limits: use it for every wait
    ///   and for ``reportProgress()``.
    /// - Returns: The response of `send`. Its body is collected if ``delivery`` says so; the time limits also apply to
    ///   a streamed body.
    /// - Throws: The error of `send`, or ``ApiConnectorError`` of kind `.cancelled` or `.deadlineExceeded` if the call
    ///   has already ended. Collecting a body can fail as in ``ResponseBody/collect(upTo:)``.
    public func withTimeLimits(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try await withTimeLimitsInlined(send)
    }

    /// Runs a transport's wait, and calls a closure that ends it at the task's cancellation, a timeout or the call's
    /// deadline.
    ///
    /// `onStop` is called at most once for each of these, from any thread, and possibly before `operation` starts. It
    /// has to make `operation` return immediately, with the error that it gets.
    ///
    /// The limits are those of ``withTimeLimits(_:)``. Outside of that function, the stall timeout is off, and
    /// ``Timeouts/attempt`` covers only the operation.
    ///
    /// - Parameters:
    ///   - operation: The wait.
    ///   - readPending: Reads the bytes that the system has received but the transport has not. It reports progress for
    ///     these bytes, and then calls `completion` once. It runs before a time limit ends the wait or, later,
    ///     the response's body. Bytes may then be pending because the process was suspended or the machine is busy.
    ///     If it does not call `completion` within 5 seconds of the system's time, the limit applies without it.
    ///     With nil, the default, a time limit ends the wait immediately.
    ///   - onStop: Ends the wait.
    public func withStopHandler<Value>(
        _ operation: () async -> Value,
        readPending: (@Sendable (_ completion: @escaping @Sendable () -> Void) -> Void)? = nil,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        await withStopHandler(appliesStall: true, operation, readPending: readPending, onStop: onStop)
    }

    /// Reports that bytes were sent or received, which restarts the stall timeout.
    ///
    /// It only has an effect on the request that ``withTimeLimits(_:)`` passes to its closure.
    public func reportProgress() {
        watch?.reportProgress()
    }

    /// Reports how many bytes of the body were accepted for sending so far; your own transport calls it for each chunk.
    ///
    /// It also restarts the stall timeout, like ``reportProgress()``.
    public func reportSent(byteCount: Int) {
        reportProgress()
        values.uploadProgress?.report(byteCount, of: body.byteCount)
    }

    /// Reports that the whole body was accepted for sending; your own transport calls it if it sends a body in one
    /// piece.
    ///
    /// It does nothing if there is no upload progress, if the body is empty, or if its length is unknown.
    public func reportBodySent() {
        guard let uploadProgress = values.uploadProgress, !body.isEmpty, let byteCount = body.byteCount else { return }
        uploadProgress.report(byteCount, of: byteCount)
    }

    /// Runs a wrapper's wait, and calls a closure that ends it at a cancellation or the call's deadline.
    ///
    /// Such a wait is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not apply. The operation
    /// runs in the caller's task, and `onStop` ends it. For code that a closure cannot end, use ``withDeadline(_:)``.
    ///
    /// ```swift
    /// let outcome = await request.withDeadline { await queue.turn(of: waiter) } onStop: { error in
    ///     queue.remove(waiter, throwing: error)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The wait.
    ///   - onStop: Ends the wait with the error that it gets. It is called at most once for the cancellation and once
    ///     for the deadline, from any thread, and possibly before `operation` starts.
    public func withDeadline<Value>(
        _ operation: () async -> Value,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        var request = self
        request.limits = nil
        return await request.withStopHandler(appliesStall: false, operation, onStop: onStop)
    }

    /// Runs a wrapper's code that may ignore a cancellation, and stops waiting for it at the call's deadline.
    ///
    /// A cancellation and the call's deadline end the wait immediately. The code is then canceled, and its result is
    /// discarded. The code is not part of an attempt: ``Timeouts/attempt`` and ``Timeouts/stall`` do not apply. A wait
    /// that a closure can end needs no task of its own, so use ``withDeadline(_:onStop:)`` for it.
    ///
    /// ```swift
    /// let token = try await request.withDeadline { try await refresh.value }
    /// ```
    ///
    /// - Parameter body: The code; run once, in its own task.
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` or `.deadlineExceeded` if a cancellation or the deadline
    ///   ended the wait. An error of the code is converted as in ``ApiConnectorError/mapping(_:_:)``.
    public func withDeadline<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        try await leavingBehind(body)
    }

    /// Returns this request for a task that can outlive the caller's wait, such as a task that several calls wait for.
    ///
    /// The time limits that are running for the caller do not end this request. Its own ``timeouts`` and ``deadline``
    /// apply from the moment when a transport gets it.
    ///
    /// - Parameter reportsEvents: Whether the caller's observers receive its events; true by default. Pass false for
    ///   work that is not part of the caller's call.
    public func detached(reportingEvents reportsEvents: Bool = true) -> ApiRequest {
        var request = self
        request.watch = nil
        if !reportsEvents { request.reportEvents(to: nil) }
        return request
    }
}

extension RequestState {
    /// The time limits that run for a request.
    struct Limits: Sendable { fileprivate var watch: AttemptWatch? }
}

extension ApiRequest {
    /// Ends the attempt at a time limit; nil outside of ``withTimeLimits(_:)``.
    private var watch: AttemptWatch? {
        get { state.storage?.parts.limits.watch }
        set { if newValue !== watch { state.change { $0.limits.watch = newValue } } }
    }

    /// Removes the watch from the request of a response.
    ///
    /// If the transport has not changed the state, this restores the state before the watch without a copy.
    private mutating func removeWatch(of sent: ApiRequest, setIn original: ApiRequest) {
        if state.isCopy(of: sent.state) { state = original.state } else { watch = nil }
    }

    /// Throws if the call was canceled or is past its deadline.
    @inline(__always)
    func checkNotOver() throws(ApiConnectorError) {
        if Task.isCancelled { throw .cancelled(self) }
        if let deadline, deadline <= timeSource.now { throw .deadlineExceeded(self) }
    }

    /// A watch of the request's limits; nil if it has none.
    func newWatch() -> AttemptWatch? {
        let timeouts = self.timeouts
        guard timeouts.attempt != nil || timeouts.stall != nil || deadline != nil else { return nil }
        return AttemptWatch(timeouts, deadline: deadline, timers: timerQueue, limits: limits, attempt: attempt)
    }

    /// The same function, inlined, because each asynchronous call allocates task memory.
    @inline(__always)
    func withTimeLimitsInlined(
        _ send: (ApiRequest) async throws(ApiConnectorError) -> ApiResponse
    ) async throws(ApiConnectorError) -> ApiResponse {
        try checkNotOver()
        if watch?.watches(self) == true { return try await send(self) }
        guard let watch = newWatch() else { return try await send(self).collectedIfWanted(by: self) }
        var request = self
        request.watch = watch
        do {
            var response = try await send(request)
            response.request.removeWatch(of: request, setIn: self)
            guard let reader = response.body.reader else {
                watch.end()
                return response
            }
            response.body = ResponseBody(source: try WatchedBody(reader, of: request, watch: watch))
            return try await response.collectedIfWanted(by: self)
        } catch {
            watch.end()
            throw error
        }
    }

    /// - Parameter appliesStall: Whether the operation reports progress, so that the stall timeout can apply.
    func withStopHandler<Value>(
        appliesStall: Bool,
        _ operation: () async -> Value,
        readPending: AttemptWatch.ReadPending? = nil,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        guard watch == nil, isTimeLimited, let watch = newWatch() else {
            return await withinWatch(appliesStall: appliesStall, operation, readPending: readPending, onStop: onStop)
        }
        defer { watch.end() }
        var watched = self
        watched.watch = watch
        // The stall timeout is off, because the operation reports progress to the caller's request, which has no watch.
        return await watched.withinWatch(appliesStall: false, operation, readPending: nil, onStop: onStop)
    }

    private func withinWatch<Value>(
        appliesStall: Bool,
        _ operation: () async -> Value,
        readPending: AttemptWatch.ReadPending?,
        onStop: @escaping @Sendable (ApiConnectorError) -> Void
    ) async -> Value {
        let number = watch?.attach(appliesStall: appliesStall, readPending) { [self] in
            onStop($0.completed(request: self))
        }
        defer { if let number { watch?.detach(number) } }
        return await withTaskCancellationHandler(operation: operation) {
            onStop(.cancelled(self))
        }
    }

    /// Runs code that does not check the time limits, and stops waiting for it at a limit or a cancellation.
    ///
    /// The code is then canceled, and its result is discarded.
    ///
    /// - Parameters:
    ///   - limitsAttempt: Whether the code is an attempt; if not, only the deadline and a cancellation end the wait.
    ///   - appliesStall: Whether the code reports progress, so that the stall timeout can apply.
    func leavingBehind<Value: Sendable>(
        limitsAttempt: Bool = false,
        appliesStall: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        let waiter = PendingResult<Value>()
        let task = Locked<Task<Void, Never>?>(nil)
        var limited = self
        if !limitsAttempt { limited.limits = nil }
        let outcome = await limited.withStopHandler(appliesStall: appliesStall) {
            // Starts after the limits are set, so that a limit that is already reached ends the wait.
            let started = Task {
                do {
                    waiter.resume(with: .success(try await body()))
                } catch {
                    waiter.resume(with: .failure(ApiConnectorError(mapping: error, request: self)))
                }
            }
            task.withLock { $0 = started }
            if waiter.isOver { started.cancel() }
            return await waiter.result()
        } onStop: { error in
            waiter.resume(with: .failure(error))
            task.withLock { $0 }?.cancel()
        }
        return try outcome.get()
    }
}

extension ApiResponse {
    /// Returns this response as the response to another call, which waited for it.
    ///
    /// It gets that call's context, observers and deadline. ``request`` still shows the request that was sent.
    ///
    /// - Parameter call: The other call's request.
    public func answering(_ call: ApiRequest) -> ApiResponse {
        var response = self
        response.request.joinCall(of: call)
        response.request.joinObservers(of: call)
        response.request.deadline = call.deadline
        return response
    }

    /// The response with the request's time limits for a streamed body, unless the transport has already applied
    /// limits.
    @inline(__always)
    consuming func watched(as sent: ApiRequest) throws(ApiConnectorError) -> ApiResponse {
        guard let reader = body.reader, !reader.isWatched, let watch = sent.newWatch() else { return self }
        var response = self
        response.body = ResponseBody(source: try WatchedBody(reader, of: response.request, watch: watch))
        return response
    }
}

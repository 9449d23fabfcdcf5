// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that sends one request for identical concurrent calls; made by
/// ``ApiConnector/DataRequestType/deduplicating()``.
struct Deduplicated<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    let calls = SharedCalls()

    init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    /// Answers a call with the response to an identical call's running request, or sends a new request.
    ///
    /// - Throws: The error of the wrapped provider, for every waiting call. If a call's own task is canceled or its own
    ///   deadline passes, only that call fails, with kind `.cancelled` or `.deadlineExceeded`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // Calls may wait for a refresh, so the refresh must not wait for a call.
        guard request.isShareable, !request.isCredentialRefresh else {
            // After an unsafe request, later calls must not get the response to an earlier request.
            defer { if !request.method.isSafe { calls.close(to: HTTPOrigin(request.url)) } }
            return try await wrapped.response(for: request)
        }
        if Task.isCancelled { throw .cancelled(request) }
        let key = SharedCallKey(request)
        while true {
            let place = enter(request, key)
            let outcome = await request.withDeadline {
                await place.outcome()
            } onStop: { [calls] error in
                calls.leave(place, because: error)
            }
            if place.isJoined, case .failure = outcome, request.outlives(place.deadline) { continue }
            let response = try outcome.get()
            return place.isJoined ? response.answering(request) : response
        }
    }

    private func enter(_ request: ApiRequest, _ key: SharedCallKey) -> SharedCalls.Place {
        let place = calls.enter(key, deadline: request.deadline) { [wrapped] in
            await wrapped.outcome(of: request.detached())
        }
        if place.isJoined { request.report(.joined) }
        return place
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to send one request for identical concurrent calls.
    ///
    /// ## Calls that share a request
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying().deduplicating().authenticating(by: session)
    /// ```
    ///
    /// Two calls are identical if both are GET or HEAD without a body, and these parts are equal:
    ///
    /// - the URL; a missing port equals the default port;
    /// - the header fields, including those that outer providers have added;
    /// - the timeouts of an attempt and the size limit of the body;
    /// - the priority and the other ``/ApiConnector/RequestValues``.
    ///
    /// Put it inside the provider that adds credentials, so that no caller gets a response for another user. Put it
    /// outside a provider that adds a different field to each call, such as a trace ID.
    ///
    /// These requests are never shared:
    ///
    /// - A stream, because its body can be read only once.
    /// - A request of a credential's refresh (``/ApiConnector/RefreshableCredentials``).
    ///
    /// ## The end of a shared request
    ///
    /// ```swift
    /// async let first = api.value(Tea.self, at: .tea(id: 1))
    /// async let second = api.value(Tea.self, at: .tea(id: 1))
    /// let teas = try await (first, second)  // One request; both calls get its response or its error.
    /// ```
    ///
    /// - A call that is canceled, or whose deadline passes, ends alone. When no call is left, the request is canceled.
    /// - A failure goes to all waiting calls. But if the request ends at the deadline of the call that sent it, calls
    ///   with a later deadline send a new request.
    /// - After the end of a call with an unsafe method, such as POST, later calls do not join requests that were sent
    ///   to its origin before.
    /// - A call that joins a running request reports ``/ApiConnector/CallEvent/Kind/joined`` to observers. Inner
    ///   providers see one request.
    public func deduplicating() -> some DataRequestType {
        Deduplicated(self)
    }
}

extension ApiRequest {
    /// Whether another call's deadline has passed, and this call still has time left.
    fileprivate func outlives(_ other: Duration?) -> Bool {
        guard let other, timeSource.now >= other, !Task.isCancelled else { return false }
        return deadline.map { $0 > timeSource.now } ?? true
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that sends one request for calls that ask the same at the same time; made by
/// ``ApiConnector/DataRequestType/deduplicating()``.
struct Deduplicated<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    let calls = SharedCalls()

    init(_ wrapped: Wrapped) {
        self.wrapped = wrapped
    }

    /// Answers a call by the request that is under way for another one, or sends its own.
    ///
    /// - Throws: What the wrapped provider throws, to every call that waits for it; of kind `.cancelled` or
    ///   `.deadlineExceeded`, and to that call alone, when its own task is canceled or its own deadline passes.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // Calls wait for a refresh, which must not wait for one of them.
        guard request.isShareable, !request.isCredentialRefresh else {
            // What was asked before something may have changed is no answer to who asks from then on.
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
    /// This provider, sending one request for calls that ask the same at the same time.
    ///
    /// Two calls ask the same if both are GET or HEAD without a body, and these are equal:
    ///
    /// - the URL; a default port and none are equal;
    /// - the header fields that are there where this stands;
    /// - the limits of an attempt and the largest body;
    /// - the priority and the other ``/ApiConnector/RequestValues``.
    ///
    /// Put it inside of what adds credentials, so that nobody gets an answer that was meant for another. Put it outside of
    /// what adds a field that differs from call to call, such as a trace.
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying().deduplicating().authenticating(by: session)
    /// ```
    ///
    /// - A call that is canceled, or whose deadline passes, ends alone; the last one to leave cancels the request.
    /// - A failure goes to all that wait. Only where the request ends at the deadline of the call that sent it, those
    ///   that have more time ask again.
    /// - A stream's body comes once, so each stream has its own request, and so has what a credential's refresh
    ///   sends (``/ApiConnector/RefreshableCredentials``).
    /// - A call that begins after the end of one with an unsafe method, such as POST, does not join what was sent
    ///   before to that origin.
    /// - Observers are told ``/ApiConnector/CallEvent/Kind/joined``; those further in see one request.
    public func deduplicating() -> some DataRequestType {
        Deduplicated(self)
    }
}

extension ApiRequest {
    /// Whether the call has time left after another one's deadline, which has passed.
    fileprivate func outlives(_ other: Duration?) -> Bool {
        guard let other, timeSource.now >= other, !Task.isCancelled else { return false }
        return deadline.map { $0 > timeSource.now } ?? true
    }
}

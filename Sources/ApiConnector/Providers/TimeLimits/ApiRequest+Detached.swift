// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// This request for a task that can outlive the caller's wait, such as one that several calls wait for.
    ///
    /// The time limits that run for the caller do not end it. Its own ``timeouts`` and ``deadline`` apply as before, from
    /// the moment at which a transport gets it.
    ///
    /// - Parameter reportsEvents: Whether the caller's observers see its events; true by default. Pass false for work that
    ///   is not part of the caller's call.
    public func detached(reportingEvents reportsEvents: Bool = true) -> ApiRequest {
        var request = self
        request.watch = nil
        if !reportsEvents { request.events = nil }
        return request
    }
}

extension ApiResponse {
    /// This response as the response to another call, which waited for it.
    ///
    /// Redirects, observers and the deadline are those of that call. ``request`` still shows what was sent.
    ///
    /// - Parameter call: The other call's request.
    public func answering(_ call: ApiRequest) -> ApiResponse {
        var response = self
        response.request.context = call.context
        response.request.events = call.events
        response.request.deadline = call.deadline
        return response
    }
}

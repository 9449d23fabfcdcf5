// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
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
        if !reportsEvents { request.events = nil }
        return request
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
        response.request.context = call.context
        response.request.events = call.events
        response.request.deadline = call.deadline
        return response
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that returns results in a given order; made by `answering(in:)`.
struct AnsweringInOrder<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let order: AnswerOrder

    /// Sends a request, and returns the result when it is the call's turn.
    ///
    /// - Throws: The error of the wrapped provider; kind `.cancelled`, immediately, if the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let response = try await wrapped.response(for: request)
        guard let call = order.currentCall() else { return response }
        call.hasArrived.set(())
        try await OpenExchange.wait(for: call.isReleased, of: request, until: nil)
        return response
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped so that each call gets its result when it is the call's turn.
    ///
    /// - Parameter order: The order that ``FaultTest/everyAnswerOrder(within:_:)`` passed to the test's body.
    public func answering(in order: AnswerOrder) -> some DataRequestType {
        AnsweringInOrder(wrapped: self, order: order)
    }
}

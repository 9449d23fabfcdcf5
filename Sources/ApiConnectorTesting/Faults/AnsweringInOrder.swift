// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Lets requests be answered in an order; made by `answering(in:)`.
struct AnsweringInOrder<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let order: AnswerOrder

    /// Sends a request, and hands back what came when it is its turn.
    ///
    /// - Throws: What the wrapped provider throws; of kind `.cancelled`, and at once, when the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let response = try await wrapped.response(for: request)
        guard let call = order.currentCall() else { return response }
        call.hasArrived.set(())
        try await Exchange.wait(for: call.isReleased, of: request, until: nil)
        return response
    }
}

extension DataRequestType {
    /// This provider, which holds back what came for each call until it is its turn.
    ///
    /// - Parameter order: What ``FaultTest/everyAnswerOrder(within:_:)`` handed to the test's body.
    public func answering(in order: AnswerOrder) -> some DataRequestType {
        AnsweringInOrder(wrapped: self, order: order)
    }
}

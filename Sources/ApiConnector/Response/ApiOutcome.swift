// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The outcome of a call: a value, the backend's own error, or a failure of the call.
public enum ApiOutcome<Value: Sendable, Failure: Sendable>: Sendable {
    /// The value.
    case success(Value)

    /// The backend's own error with the response's head, for any status.
    case backendFailure(Failure, ResponseHead)

    /// Any other failure: no connection, or a response with an unacceptable status or body.
    case failure(ApiConnectorError)

    /// Returns the value or throws the error.
    ///
    /// - Throws: ``ApiConnectorError``. For the backend's own error, its kind is `.backendFailure`, and it contains the
    ///   failure.
    public func get() throws(ApiConnectorError) -> Value {
        switch self {
        case .success(let value):
            return value
        case .backendFailure(let failure, let head):
            let detail = "the backend answered \(head.status) and reported its own error"
            var error = ApiConnectorError(.backendFailure, at: .envelope, detail, head: head)
            error.backendFailure = failure
            error.problem = failure as? ProblemDetails
            throw error
        case .failure(let error):
            throw error
        }
    }
}

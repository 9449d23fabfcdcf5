// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a call ended, in three states: with a value, with the backend's own errors, or without an answer to use.
public enum ApiOutcome<Value: Sendable, Failure: Sendable>: Sendable {
    /// The value.
    case success(Value)

    /// The backend's own errors, with the head that they came with, whatever its status.
    case backendFailure(Failure, ResponseHead)

    /// Everything else: no connection, a status or a body that fits nothing.
    case failure(ApiConnectorError)

    /// The value.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.backendFailure`, with the failure in it, for the backend's own
    ///   errors.
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

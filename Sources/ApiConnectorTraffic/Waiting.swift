// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension PendingResult {
    /// Starts an operation that delivers the result, and waits for it until this task is canceled.
    ///
    /// - Parameter canceled: The result if the task is canceled first.
    func result(
        ifCanceled canceled: Result<Success, ApiConnectorError>,
        starting start: () -> Void
    ) async -> Result<Success, ApiConnectorError> {
        await withTaskCancellationHandler {
            start()
            return await result()
        } onCancel: {
            resume(with: canceled)
        }
    }
}

extension ApiConnectorError {
    static func cancelled(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the call was canceled", request: request)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Runs code that can throw any error, and converts the error to an `ApiConnectorError`.
    ///
    /// Use it in your own provider. Errors are converted as in ``ApiConnectorError/init(mapping:request:)``.
    ///
    /// The attempt limit and the deadline of `request` apply to the code. When one of them is reached, this function
    /// throws immediately. The code is then canceled, and its result is discarded.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent, for the error's text and the time limits.
    ///   - body: The code; run once.
    public static func mapping<Value: Sendable>(
        _ request: ApiRequest? = nil,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        if request?.isTimeLimited == true, let request {
            return try await request.leavingBehind(limitsAttempt: true, body)
        }
        do {
            return try await body()
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
    }
}

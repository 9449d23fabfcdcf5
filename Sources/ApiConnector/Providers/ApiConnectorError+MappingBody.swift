// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Runs code that may throw anything, and throws what it threw as the kind that fits.
    ///
    /// With it a provider of your own is ten lines: an ``ApiConnectorError`` passes as it is, a `CancellationError` and
    /// a `URLError` become the kind that the transports use for the same event, anything else becomes `.other`.
    ///
    /// A limit of time that the connection has set ends the wait too, whatever the code is doing: it is cancelled, and
    /// what it comes to is thrown away.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent, for the error's text and its limits.
    ///   - body: The code; run once.
    public static func mapping<Value: Sendable>(
        _ request: ApiRequest? = nil,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ApiConnectorError) -> Value {
        if request?.limitsForeignCode == true, let request {
            return try await request.leavingBehind(body)
        }
        do {
            return try await body()
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
    }
}

extension ApiRequest {
    /// Whether a limit of time holds that code which knows nothing of watches has to be left behind for.
    ///
    /// Asked before ``ApiConnectorError/mapping(_:_:)`` it spares a closure, and the copy of the request in it.
    package var limitsForeignCode: Bool { watch?.limitsEverything == true }
}

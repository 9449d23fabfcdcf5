// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError {
    /// Runs code that may throw anything, and throws what it threw as the kind that fits.
    ///
    /// With it your own provider is ten lines: an ``ApiConnectorError`` passes as it is, a `CancellationError` and
    /// a `URLError` become the kind that the transports use for the same event, anything else becomes `.other`.
    ///
    /// A limit of time that the connection has set ends the wait too, whatever the code is doing: it is canceled, and
    /// what it comes to is thrown away.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent, for the error's text and its limits.
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

extension ApiRequest {
    /// Whether the time of an attempt is limited, by ``Timeouts/attempt`` or by the call's ``deadline``.
    ///
    /// Silence alone does not count.
    ///
    /// ``ApiConnectorError/mapping(_:_:)`` asks it by itself. A provider that answers in a microsecond asks it before:
    /// where nothing can end its wait, ``ApiConnectorError/init(mapping:request:)`` does, and spares a closure.
    public var isTimeLimited: Bool { deadline != nil || limits?.timeouts.attempt != nil }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The open circuit of a host: the ``/ApiConnector/ApiConnectorError/underlying`` error of an
/// ``/ApiConnector/ApiConnectorError`` of kind `.circuitOpen`.
public struct OpenCircuit: Error, Sendable, Hashable {
    /// Scheme, host and port.
    public let origin: String

    /// When the circuit opened.
    public let since: Date

    /// When a trial request is admitted; in the past while a trial request is running.
    public let until: Date
}

extension ApiConnectorError {
    static func circuitOpen(
        _ origin: HTTPOrigin,
        since: Duration,
        until: Duration,
        for request: ApiRequest
    ) -> ApiConnectorError {
        let now = request.timeSource.now
        let date = request.timeSource.date
        let circuit = OpenCircuit(
            origin: origin.description,
            since: date.addingTimeInterval((since - now) / .seconds(1)),
            until: date.addingTimeInterval((until - now) / .seconds(1))
        )
        let left = (until - now).inMilliseconds(rounded: .up)
        let end =
            until > now
            ? "until \(circuit.until.formatted(.iso8601)), in \(left)"
            : "until a trial request succeeds"
        return ApiConnectorError(
            .circuitOpen,
            "requests to \(circuit.origin) kept failing; its circuit is open since "
                + "\(circuit.since.formatted(.iso8601)), \(end)",
            request: request,
            underlying: circuit
        )
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider with a circuit breaker per host; made by ``ApiConnector/DataRequestType/circuitBreaking(_:)``.
struct CircuitBreaking<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: CircuitPolicy
    private let circuits: Circuits

    init(_ wrapped: Wrapped, _ policy: CircuitPolicy) {
        self.wrapped = wrapped
        self.policy = policy
        circuits = Circuits(policy)
    }

    /// Sends the request, unless the circuit of its host is open.
    ///
    /// - Throws: The error of the wrapped provider, and ``/ApiConnector/ApiConnectorError`` of kind `.circuitOpen`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // The trial request itself may be waiting for the refresh, so the refresh must not be refused.
        guard !request.isCredentialRefresh, let origin = HTTPOrigin(request.url) else {
            return try await wrapped.response(for: request)
        }
        let number: Int
        switch circuits.admit(origin, now: request.timeSource.now) {
        case .pass(let admitted):
            number = admitted
        case .probe(let admitted):
            number = admitted
            request.report(.circuit(.probing))
        case .refuse(let since, let until):
            request.report(.circuit(.refused))
            throw .circuitOpen(origin, since: since, until: until, for: request)
        }
        do throws(ApiConnectorError) {
            let response = try await wrapped.response(for: request)
            record(policy.statuses.contains(response.status) ? .failure : .success, of: number, origin, request)
            return response
        } catch {
            record(policy.kinds.contains(error.kind) ? .failure : .nothing, of: number, origin, request)
            throw error
        }
    }

    private func record(_ outcome: Circuit.Outcome, of number: Int, _ origin: HTTPOrigin, _ request: ApiRequest) {
        let event = circuits.record(outcome, of: number, origin, now: request.timeSource.now)
        if let event { request.report(.circuit(event)) }
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped with a circuit breaker per host.
    ///
    /// If a host keeps failing, its circuit opens: requests to the host fail at once with kind `.circuitOpen`, until a
    /// trial request succeeds.
    ///
    /// - Each origin (scheme, host, port) has its own circuit.
    /// - The ``CircuitPolicy`` defines which responses and errors are failures. A response counts when its head
    ///   arrives.
    /// - A cancel does not count. If a trial request is canceled, the next request becomes the trial.
    /// - A request that refreshes a credential (``/ApiConnector/RefreshableCredentials``) is neither refused nor
    ///   counted.
    ///
    /// Inside a retrying provider each attempt counts, and a refused attempt is not retried. The
    /// ``/ApiConnector/ApiConnectorError/underlying`` error of a refusal is an ``OpenCircuit``.
    ///
    /// - Parameter policy: When a circuit opens, and for how long; ``CircuitPolicy/standard`` by default.
    public func circuitBreaking(_ policy: CircuitPolicy = .standard) -> some DataRequestType {
        CircuitBreaking(self, policy)
    }
}

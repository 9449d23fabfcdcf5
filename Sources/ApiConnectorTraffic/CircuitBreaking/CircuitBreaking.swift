// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that leaves a host alone that keeps failing; made by ``ApiConnector/DataRequestType/circuitBreaking(_:)``.
struct CircuitBreaking<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: CircuitPolicy
    private let circuits: Circuits

    init(_ wrapped: Wrapped, _ policy: CircuitPolicy) {
        self.wrapped = wrapped
        self.policy = policy
        circuits = Circuits(policy)
    }

    /// Sends the request, unless its host is left alone.
    ///
    /// - Throws: What the wrapped provider throws, and ``/ApiConnector/ApiConnectorError`` of kind `.circuitOpen`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // The request that tries the host may be the one that waits for it.
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
    /// This provider, leaving a host alone that keeps failing: its circuit opens, and requests to it fail at once with
    /// kind `.circuitOpen`, until one that tries it has succeeded.
    ///
    /// Each origin (scheme, host, port) has a circuit. What counts as a failure is in the ``CircuitPolicy``; a response
    /// counts when its head comes. A cancel says nothing: a request that was to try the host and is canceled leaves that to
    /// the next. A request that belongs to the refresh of a credential (``/ApiConnector/RefreshableCredentials``) is neither
    /// refused nor counted.
    ///
    /// Inside a retrying provider each attempt counts, and one that is refused is not sent again. Its
    /// ``/ApiConnector/ApiConnectorError/underlying`` error is an ``OpenCircuit``.
    ///
    /// - Parameter policy: When a host is left alone, and for how long; ``CircuitPolicy/standard`` by default.
    public func circuitBreaking(_ policy: CircuitPolicy = .standard) -> some DataRequestType {
        CircuitBreaking(self, policy)
    }
}

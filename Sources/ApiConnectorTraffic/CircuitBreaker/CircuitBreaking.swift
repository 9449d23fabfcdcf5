// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider with a circuit breaker per host; made by ``ApiConnector/DataRequestType/circuitBreaking(_:)``.
struct CircuitBreaking<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let policy: CircuitPolicy
    private let circuits: Circuits
    private let sharing: CircuitSharing?

    init(_ wrapped: Wrapped, _ policy: CircuitPolicy, _ shared: SharedCircuits? = nil) {
        self.wrapped = wrapped
        self.policy = policy
        let circuits = Circuits(policy)
        self.circuits = circuits
        sharing = shared.map { CircuitSharing($0, circuits, policy) }
    }

    /// Sends the request, unless the circuit of its host is open.
    ///
    /// - Throws: The error of the wrapped provider, and ``/ApiConnector/ApiConnectorError`` of kind `.circuitOpen`.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // The trial request itself may be waiting for the refresh, so the refresh must not be refused.
        guard !request.isCredentialRefresh, let origin = HTTPOrigin(request.url) else {
            return try await wrapped.response(for: request)
        }
        sharing?.look(at: origin, for: request)
        let pass = try await admit(request, to: origin)
        do throws(ApiConnectorError) {
            let response = try await wrapped.response(for: request)
            record(policy.statuses.contains(response.status) ? .failure : .success, of: pass, origin, request)
            return response
        } catch {
            record(policy.kinds.contains(error.kind) ? .failure : .nothing, of: pass, origin, request)
            throw error
        }
    }

    /// The admission of a request.
    private struct Pass {
        let number: Int
        /// The lease of a trial request, if the circuit is shared.
        var lease: SharedLease?
    }

    private func admit(_ request: ApiRequest, to origin: HTTPOrigin) async throws(ApiConnectorError) -> Pass {
        // Another instance may send the trial request. Then the circuit has changed, so the loop asks it again.
        while true {
            switch circuits.admit(origin, now: request.timeSource.now) {
            case .pass(let number):
                return Pass(number: number)
            case .probe(let number):
                var pass = Pass(number: number)
                if let sharing {
                    do throws(ApiConnectorError) {
                        guard case .granted(let lease) = try await sharing.mayProbe(origin, number, for: request)
                        else {
                            continue
                        }
                        pass.lease = lease
                    } catch {
                        record(.nothing, of: pass, origin, request)
                        throw error
                    }
                }
                request.report(.circuit(.probing))
                return pass
            case .refuse(let since, let until):
                request.report(.circuit(.refused))
                throw .circuitOpen(origin, since: since, until: until, for: request)
            }
        }
    }

    private func record(_ outcome: Circuit.Outcome, of pass: Pass, _ origin: HTTPOrigin, _ request: ApiRequest) {
        let event = circuits.record(outcome, of: pass.number, origin, now: request.timeSource.now)
        if let event { request.report(.circuit(event)) }
        // After a success, more trial requests may be necessary, and they need the lease.
        let isOver = event != nil || outcome == .nothing
        sharing?.publish(event, origin, ending: isOver ? pass.lease : nil, request.timeSource)
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped with a circuit breaker per host.
    ///
    /// If a host keeps failing, its circuit opens: requests to the host fail at once with kind `.circuitOpen`, until
    /// enough trial requests have succeeded (``CircuitPolicy/probeCount``, 1 by default).
    ///
    /// - Each origin (scheme, host, port) has its own circuit.
    /// - The ``CircuitPolicy`` defines which responses and errors are failures. A response counts when its head
    ///   arrives.
    /// - A cancellation does not count. If a trial request is canceled, the next request becomes the trial.
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

    /// Returns this provider, wrapped as by ``circuitBreaking(_:)``, with circuits that several instances share.
    ///
    /// ```swift
    /// let provider = SystemProvider().circuitBreaking(sharedAs: SharedCircuits(named: "orders", in: state))
    /// ```
    ///
    /// - If one instance opens the circuit of a host, the others also refuse requests. This takes at most
    ///   ``SharedCircuits/refreshInterval`` (1 second by default) plus one round trip to the store. An instance that
    ///   was idle for longer than that reads the store when it sends its next request. Until this read has ended, it
    ///   still sends requests.
    /// - One instance at a time sends trial requests. If it is killed, another instance does so after
    ///   ``CircuitPolicy/openDuration``. When enough trial requests have succeeded (one by default), the circuit closes
    ///   for all instances. A failed trial request opens it again for all.
    /// - Only a trial request waits for the shared state, and never beyond its deadline.
    /// - While the shared state is unavailable, each instance has its own circuits, and its calls report the event
    ///   `custom("sharedStateUnavailable")`.
    ///
    /// Give all instances the same policy.
    ///
    /// - Parameters:
    ///   - policy: When a circuit opens, and for how long; ``CircuitPolicy/standard`` by default.
    ///   - shared: The shared state with the circuits, and how often an instance reads it.
    public func circuitBreaking(
        _ policy: CircuitPolicy = .standard,
        sharedAs shared: SharedCircuits
    ) -> some DataRequestType {
        CircuitBreaking(self, policy, shared)
    }
}

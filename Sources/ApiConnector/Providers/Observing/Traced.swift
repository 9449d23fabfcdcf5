// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that sends a `traceparent` with each request; made by ``DataRequestType/tracing(isSampled:random:)``.
struct Traced<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let isSampled: Bool
    private let random: @Sendable () -> UInt64

    init(_ wrapped: Wrapped, isSampled: Bool, random: @escaping @Sendable () -> UInt64) {
        self.wrapped = wrapped
        self.isSampled = isSampled
        self.random = random
    }

    /// Sends the request, with a `traceparent` if it has none, by the wrapped provider.
    ///
    /// - Throws: What the wrapped provider throws.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard !request.headers.contains(.traceparent) else { return try await wrapped.response(for: request) }
        var request = request
        let call = request.callID(random: random)
        // Neither id may be all zeros.
        let parent = max(random(), 1)
        request.headers.append(.traceparent, "00-\(call)-\(parent.hexadecimal)-\(isSampled ? "01" : "00")")
        return try await wrapped.response(for: request)
    }
}

extension DataRequestType {
    /// This provider, sending a W3C Trace Context with each request, so that servers can join what they log.
    ///
    /// The trace id is the call's, ``CallEvent/call``: the same for all its attempts and redirects, and in a
    /// ``CallLog``. The parent id is new for each request, so for each attempt inside a retrying provider. A
    /// `traceparent` that the request has already is kept.
    ///
    /// - Parameters:
    ///   - isSampled: Whether servers are asked to record the trace; yes by default.
    ///   - random: Where chance comes from: 64 random bits; the system's generator by default.
    public func tracing(
        isSampled: Bool = true,
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) -> some DataRequestType {
        Traced(self, isSampled: isSampled, random: random)
    }
}

extension HTTPHeaders.Name {
    fileprivate static var traceparent: Self { "traceparent" }
}

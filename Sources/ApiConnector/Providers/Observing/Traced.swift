// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that adds a `traceparent` to each request; made by ``DataRequestType/tracing(isSampled:random:)``.
struct Traced<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let isSampled: Bool
    private let random: @Sendable () -> UInt64

    init(_ wrapped: Wrapped, isSampled: Bool, random: @escaping @Sendable () -> UInt64) {
        self.wrapped = wrapped
        self.isSampled = isSampled
        self.random = random
    }

    /// Sends the request with the wrapped provider, with a `traceparent` if it has none.
    ///
    /// - Throws: The error of the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard !request.headers.contains(.traceparent) else { return try await wrapped.response(for: request) }
        var request = request
        let call = request.callID(random: random)
        // Neither ID may be all zeros.
        let parent = max(random(), 1)
        request.headers.append(.traceparent, "00-\(call)-\(parent.hexadecimal)-\(isSampled ? "01" : "00")")
        return try await wrapped.response(for: request)
    }
}

extension DataRequestType {
    /// Returns a provider that adds a W3C Trace Context to each request, so that servers can correlate their logs.
    ///
    /// The trace ID is the call's ID, ``CallEvent/call``, which all attempts and redirects share, and which ``CallLog``
    /// writes. The parent ID is new for each request; inside a retrying provider, it is new for each attempt. A
    /// `traceparent` that the request already has is kept.
    ///
    /// - Parameters:
    ///   - isSampled: Whether servers should record the trace; true by default.
    ///   - random: Returns 64 random bits; uses the system's generator by default.
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

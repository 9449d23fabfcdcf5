// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import Tracing

/// A provider that makes a span for each request with swift-distributed-tracing, and adds the span's context to the
/// request.
///
/// The span has the attributes that OpenTelemetry's conventions for HTTP clients require, and what the transport has
/// measured.
///
/// The IDs of the trace are sent to each origin. Baggage may contain personal data, so it is only sent to the origins
/// in a scope (W3C Baggage, "Privacy Considerations"). Put this wrapper inside `failingOver`, which changes the
/// origin.
public struct Spanned<Wrapped: DataRequestType, T: Tracer>: DataRequestType {
    private let wrapped: Wrapped
    private let tracer: T
    private let baggageScope: CredentialScope

    init(_ wrapped: Wrapped, by tracer: T, _ baggageScope: CredentialScope) {
        self.wrapped = wrapped
        self.tracer = tracer
        self.baggageScope = baggageScope
    }

    /// Sends the request in its own span, which ends with the response body.
    ///
    /// - Throws: The errors of the wrapped provider.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let route = request.routeName
        let span = tracer.startSpan(route.map { "\(request.method) \($0)" } ?? "\(request.method)", ofKind: .client)
        var request = request
        let injector = HeaderInjector(injectsBaggage: baggageScope.admits(request))
        tracer.inject(span.context, into: &request.headers, using: injector)
        return try await wrapped.observing(by: SpanEnd(span: span)).response(for: request)
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to make a span for each request, as a child of the task's current span.
    ///
    /// Around a retrying provider, a span covers a whole call. Inside a retrying provider, it covers one attempt.
    ///
    /// - Parameters:
    ///   - tracer: The tracer.
    ///   - scope: The origins that get the baggage of the span's context; the connection's own by default.
    public func spanned<T: Tracer>(by tracer: T, baggageFor scope: CredentialScope = .connection) -> Spanned<Self, T> {
        Spanned(self, by: tracer, scope)
    }
}

/// Adds a request's result to its span and ends the span.
private struct SpanEnd<Kind: Span>: CallObserver {
    let span: Kind

    func handle(_ event: CallEvent) {
        // A span that is not sampled has no readers, but it must end.
        if span.isRecording { record(event) }
        if case .finished = event.kind { span.end() }
    }

    private func record(_ event: CallEvent) {
        switch event.kind {
        case .started:
            span.attributes["http.request.method"] = event.method.rawValue
            span.attributes["url.full"] = event.url()
            if let origin = event.origin {
                // An IPv6 address has no brackets here.
                span.attributes["server.address"] = origin.host.filter { !"[]".contains($0) }
                span.attributes["server.port"] = Int64(origin.port)
            }
            if event.attempt > 1 { span.attributes["http.request.resend_count"] = Int64(event.attempt - 1) }
        case .head(let status):
            span.attributes["http.response.status_code"] = Int64(status.rawValue)
        case _ where event.kind.isDecision:
            span.addEvent(SpanEvent(name: event.kind.description))
        case .finished(let totals):
            span.attributes["http.response.body.size"] = Int64(totals.byteCount)
            if let times = totals.times { write(times) }
            if totals.outcome.isFailure { write(totals.outcome) }
        default:
            break
        }
    }

    /// Adds a failure.
    ///
    /// If the failure is a complete response, it gets no message, because its status says enough.
    private func write(_ failure: CallEvent.Outcome) {
        if case .failed(let error) = failure {
            span.attributes["error.type"] = error.kind.rawValue
            span.setStatus(SpanStatus(code: .error, message: failure.label))
        } else {
            span.attributes["error.type"] = failure.status.map { "\($0.rawValue)" } ?? failure.label
            span.setStatus(SpanStatus(code: .error))
        }
    }

    /// Adds the transport's measurements, under OpenTelemetry's names where they exist.
    private func write(_ times: TransportTimes) {
        span.attributes["network.protocol.name"] = "http"
        if let version = times.httpVersion { span.attributes["network.protocol.version"] = version }
        if let version = times.tlsVersion { span.attributes["tls.protocol.version"] = version }
        if let address = times.remoteAddress { span.attributes["network.peer.address"] = address }
        if let port = times.remotePort { span.attributes["network.peer.port"] = Int64(port) }
        if let count = times.requestBodyByteCount { span.attributes["http.request.body.size"] = count }
        if let count = times.responseBodyByteCount { span.attributes["http.response.body.size"] = count }
        for phase in TransportTimes.Phase.allCases {
            guard let duration = times[phase] else { continue }
            // OpenTelemetry has no names for the other phases.
            span.attributes["http.client.phase.\(phase.rawValue)"] = duration / .seconds(1)
        }
    }
}

/// Writes a context's parts into header fields.
private struct HeaderInjector: Injector {
    let injectsBaggage: Bool

    func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) {
        let name = key.lowercased()
        // W3C, OpenTracing and B3, and Jaeger.
        guard injectsBaggage || !name.contains("baggage") && !name.hasPrefix("uberctx-") else { return }
        carrier[HTTPHeaders.Name(key)] = value
    }
}

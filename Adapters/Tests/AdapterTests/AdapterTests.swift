// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import InMemoryLogging
import InMemoryTracing
import LogAdapter
import Logging
import MetricsAdapter
import MetricsTestKit
import Testing
import Tracing
import TracingAdapter

struct AdapterTests {
    private enum Environment: String, ApiEnvironment {
        case test = "localhost"
    }

    private enum Route: String, ApiRouter {
        typealias EnvironmentType = Environment
        case me, lost
        var queryItems: [URLQueryItem]? { [URLQueryItem(name: "token", value: "hush")] }
    }

    private let transport = TestConnector { request in
        request.url.path() == "/me" ? .data(Data("hello".utf8)).chunked(byteCount: 2) : .status(404)
    }

    private func connection<Provider: DataRequestType>(_ provider: Provider) -> NetworkConnector<Provider, Route> {
        NetworkConnector(environment: .test, provider: provider)
    }

    @Test func aCallIsOneMessage() async throws {
        let handler = InMemoryLogHandler()
        let api = connection(transport.observing(by: LoggedCalls(Logger(label: "api") { _ in handler })))
        try await api.send(at: .me)
        await #expect(throws: ApiConnectorError.self) { try await api.send(at: .lost) }

        try #require(handler.entries.count == 2)
        let first = handler.entries[0]
        #expect(first.level == .info)
        #expect(first.message == "call finished")
        #expect(first.metadata["route"] == "me")
        #expect(first.metadata["outcome"] == "200 OK")
        #expect(first.metadata["bytes"] == "5")
        #expect(first.metadata["url"] == "http://localhost/me?token=REDACTED")
        #expect(handler.entries[1].level == .warning)
    }

    @Test func aCallIsTimedByRouteAndOutcome() async throws {
        let metrics = TestMetrics()
        let api = connection(transport.observing(by: MeteredCalls(factory: metrics)))
        for _ in 0..<3 { try await api.send(at: .me) }
        try? await api.send(at: .lost)

        let dimensions = [
            ("http.request.method", "GET"), ("server.address", "localhost"), ("server.port", "80"),
            ("url.template", "me"), ("http.response.status_code", "200"),
        ]
        #expect(try metrics.expectTimer("http.client.request.duration", dimensions).values.count == 3)
        #expect(try metrics.expectCounter("http.client.attempts", dimensions).totalValue == 3)
        #expect(try metrics.expectRecorder("http.client.response.body.size", dimensions).values == [5, 5, 5])
        #expect(metrics.timers(label: "http.client.request.duration").count == 2)
        let lost = [
            ("http.request.method", "GET"), ("server.address", "localhost"), ("server.port", "80"),
            ("url.template", "lost"), ("http.response.status_code", "404"), ("error.type", "404"),
        ]
        #expect(try metrics.expectTimer("http.client.request.duration", lost).values.count == 1)
    }

    /// The script's clock advances by two seconds before each response.
    private func timed<Provider: DataRequestType>(
        _ wrap: (TestConnector<ClosureResponses>) -> Provider
    ) -> NetworkConnector<Provider, Route> {
        let clock = ManualClock()
        let transport = TestConnector { _ in
            clock.advance(by: .seconds(2))
            return .data(Data("hello".utf8))
        }
        return NetworkConnector(
            environment: .test,
            provider: wrap(transport),
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
    }

    @Test func eachPhaseIsTimed() async throws {
        let metrics = TestMetrics()
        try await timed { $0.observing(by: MeteredCalls(factory: metrics)) }.send(at: .me)
        let dimensions = [
            ("http.request.method", "GET"), ("server.address", "localhost"), ("server.port", "80"),
            ("url.template", "me"), ("http.response.status_code", "200"),
        ]
        let timer = try metrics.expectTimer(
            "http.client.phase.duration",
            dimensions + [("http.client.phase", "responseWait")]
        )
        #expect(timer.values == [2_000_000_000])
        #expect(metrics.timers(label: "dns.lookup.duration").isEmpty)
        #expect(metrics.timers(label: "http.client.request.time_in_queue").isEmpty)
    }

    /// A transport that reports a value for every measurement, and then returns a response or fails.
    private struct Measured: DataRequestType {
        var error: ApiConnectorError?

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            let record = TransportTimesRecord()
            record.update { times in
                for (index, phase) in TransportTimes.Phase.allCases.enumerated() {
                    times[phase] = .milliseconds(index + 1)
                }
                times.isConnectionReused = false
                times.httpVersion = "2"
                times.tlsVersion = "1.3"
                times.remoteAddress = "192.0.2.1"
                times.remotePort = 8443
                times.requestBodyByteCount = 7
                times.responseBodyByteCount = 3
                times.decodedBodyByteCount = 5
            }
            if var error {
                error.timesRecord = record
                throw error
            }
            var response = ApiResponse(to: request, status: 200, body: ResponseBody(Data("hello".utf8)))
            response.timesRecord = record
            return response
        }
    }

    @Test func eachMeasurementIsAMetric() async throws {
        let metrics = TestMetrics()
        try await connection(Measured().observing(by: MeteredCalls(factory: metrics))).send(at: .me)
        let dimensions = [
            ("http.request.method", "GET"), ("server.address", "localhost"), ("server.port", "80"),
            ("url.template", "me"), ("http.response.status_code", "200"),
        ]
        #expect(try metrics.expectTimer("http.client.request.time_in_queue", dimensions).values == [1_000_000])
        #expect(try metrics.expectTimer("dns.lookup.duration", dimensions).values == [2_000_000])
        let phases = ["connecting", "tlsHandshake", "sending", "responseWait", "receiving"]
        let times = try phases.map { phase in
            try metrics.expectTimer("http.client.phase.duration", dimensions + [("http.client.phase", phase)]).values
        }
        #expect(times == (3...7).map { [$0 * 1_000_000] })
        // On the wire, so before decompression.
        #expect(try metrics.expectRecorder("http.client.request.body.size", dimensions).values == [7])
        #expect(try metrics.expectRecorder("http.client.response.body.size", dimensions).values == [3])
    }

    @Test func eachMeasurementIsAnAttribute() async throws {
        let tracer = InMemoryTracer()
        try await connection(Measured().spanned(by: tracer)).send(at: .me)
        let attributes = try #require(tracer.finishedSpans.first).attributes
        #expect(attributes.get("server.address") == .string("localhost"))
        #expect(attributes.get("server.port") == .int64(80))
        #expect(attributes.get("http.request.resend_count") == nil)
        #expect(attributes.get("error.type") == nil)
        #expect(attributes.get("network.protocol.version") == .string("2"))
        #expect(attributes.get("tls.protocol.version") == .string("1.3"))
        #expect(attributes.get("network.peer.address") == .string("192.0.2.1"))
        #expect(attributes.get("network.peer.port") == .int64(8443))
        #expect(attributes.get("http.request.body.size") == .int64(7))
        #expect(attributes.get("http.response.body.size") == .int64(3))
        let phases = TransportTimes.Phase.allCases.map { attributes.get("http.client.phase.\($0.rawValue)") }
        #expect(phases == (1...7).map { .double(Double($0) / 1_000) })
    }

    @Test func aFailureHasItsTypeAndMeasurements() async throws {
        let tracer = InMemoryTracer()
        let metrics = TestMetrics()
        let provider = Measured(error: ApiConnectorError(.connectionLost, "the server closed the connection"))
            .spanned(by: tracer)
            .observing(by: MeteredCalls(factory: metrics))
            .retrying(RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero))
        await #expect(throws: ApiConnectorError.self) { try await connection(provider).send(at: .me) }
        try #require(tracer.finishedSpans.count == 2)
        for (index, span) in tracer.finishedSpans.enumerated() {
            #expect(span.attributes.get("error.type") == .string("connectionLost"))
            #expect(span.attributes.get("http.request.resend_count") == (index == 0 ? nil : .int64(1)))
            #expect(span.attributes.get("network.peer.address") == .string("192.0.2.1"))
            #expect(span.status?.code == .error)
        }
        let dimensions = [
            ("http.request.method", "GET"), ("server.address", "localhost"), ("server.port", "80"),
            ("url.template", "me"), ("error.type", "connectionLost"),
        ]
        #expect(try metrics.expectTimer("dns.lookup.duration", dimensions).values == [2_000_000, 2_000_000])
    }

    @Test func aSpanHasWhatTheTransportMeasured() async throws {
        let tracer = InMemoryTracer()
        try await timed { $0.spanned(by: tracer) }.send(at: .me)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("http.client.phase.responseWait") == .double(2))
        #expect(span.attributes.get("network.protocol.name") == .string("http"))
        #expect(span.attributes.get("tls.protocol.version") == nil)
    }

    @Test func aRequestIsASpanWhoseContextIsSent() async throws {
        let tracer = InMemoryTracer()
        let api = connection(transport.spanned(by: tracer))
        let sent = try await api.response(at: .me).request
        await #expect(throws: ApiConnectorError.self) { try await api.send(at: .lost) }

        try #require(tracer.finishedSpans.count == 2)
        let span = tracer.finishedSpans[0]
        #expect(span.operationName == "GET me")
        #expect(span.kind == .client)
        #expect(sent.headers["in-memory-trace-id"] == span.traceID)
        #expect(sent.headers["in-memory-span-id"] == span.spanID)
        #expect(span.attributes.get("http.response.status_code") == .int64(200))
        #expect(span.attributes.get("http.response.body.size") == .int64(5))
        #expect(span.attributes.get("url.full") == .string("http://localhost/me?token=REDACTED"))
        #expect(span.status == nil)
        #expect(tracer.finishedSpans[1].status?.code == .error)
        #expect(tracer.finishedSpans[1].attributes.get("error.type") == .string("404"))
    }

    /// A tracer that sends baggage with each context.
    private struct BaggageTracer: Tracer {
        typealias Span = InMemorySpan

        let base = InMemoryTracer()

        func startSpan<Instant: TracerInstant>(
            _ operationName: String,
            context: @autoclosure () -> ServiceContext,
            ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant,
            function: String,
            file fileID: String,
            line: UInt
        ) -> InMemorySpan {
            base.startSpan(operationName, context: context(), ofKind: kind)
        }

        func forceFlush() {}

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier,
            into context: inout ServiceContext,
            using extractor: Extract
        ) where Carrier == Extract.Carrier {}

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext,
            into carrier: inout Carrier,
            using injector: Inject
        ) where Carrier == Inject.Carrier {
            base.inject(context, into: &carrier, using: injector)
            injector.inject("user=1", forKey: "baggage", into: &carrier)
        }
    }

    @Test func baggageIsSentToTheOriginsInItsScopeOnly() async throws {
        let foreign = try #require(URL(string: "http://other.example.com/me"))
        let api = connection(transport.spanned(by: BaggageTracer()))
        #expect(try await api.response(at: .me).request.headers["baggage"] == "user=1")
        let sent = try await api.response(at: foreign).request.headers
        #expect(sent["baggage"] == nil)
        #expect(sent["in-memory-trace-id"] != nil)
        let wide = connection(transport.spanned(by: BaggageTracer(), baggageFor: .connection(and: foreign)))
        #expect(try await wide.response(at: foreign).request.headers["baggage"] == "user=1")
    }

    @Test func baggageIsNotSentToTheTargetOfARedirectToAnotherOrigin() async throws {
        let redirecting = TestConnector { request in
            request.url.host() == "localhost"
                ? .status(307, headers: ["Location": "http://other.example.com/me"]) : .status(200)
        }
        let response = try await connection(redirecting.spanned(by: BaggageTracer())).response(at: .me)
        #expect(response.url.host() == "other.example.com")
        #expect(response.request.headers["baggage"] == nil)
        #expect(response.request.headers["in-memory-trace-id"] != nil)
    }

    @Test func theSpanOfAStreamEndsWithItsBody() async throws {
        let tracer = InMemoryTracer()
        let api = connection(transport.spanned(by: tracer))
        var finishedCounts: [Int] = []
        for try await _ in api.stream(at: .me, as: .chunks) { finishedCounts.append(tracer.finishedSpans.count) }
        #expect(finishedCounts == [0, 0, 0])
        #expect(tracer.finishedSpans.count == 1)
        #expect(tracer.activeSpans.isEmpty)
    }
}

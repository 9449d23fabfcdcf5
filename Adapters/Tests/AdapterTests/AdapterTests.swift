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

@Suite struct AdapterTests {
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
        #expect(first.metadata["url"] == "http://localhost:80/me?token=REDACTED")
        #expect(handler.entries[1].level == .warning)
    }

    @Test func aCallIsTimedByRouteAndOutcome() async throws {
        let metrics = TestMetrics()
        let api = connection(transport.observing(by: MeteredCalls(factory: metrics)))
        for _ in 0..<3 { try await api.send(at: .me) }
        try? await api.send(at: .lost)

        let dimensions = [
            ("http.request.method", "GET"), ("url.template", "me"), ("http.response.status_code", "200"),
        ]
        #expect(try metrics.expectTimer("http.client.request.duration", dimensions).values.count == 3)
        #expect(try metrics.expectCounter("http.client.attempts", dimensions).totalValue == 3)
        #expect(try metrics.expectRecorder("http.client.response.body.size", dimensions).values == [5, 5, 5])
        #expect(metrics.timers(label: "http.client.request.duration").count == 2)
        let lost = [
            ("http.request.method", "GET"), ("url.template", "lost"), ("http.response.status_code", "404"),
            ("error.type", "404"),
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
            ("http.request.method", "GET"), ("url.template", "me"), ("http.response.status_code", "200"),
            ("http.client.phase", "responseWait"),
        ]
        let timer = try metrics.expectTimer("http.client.phase.duration", dimensions)
        #expect(timer.values == [2_000_000_000])
        #expect(metrics.timers(label: "dns.lookup.duration").isEmpty)
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
        #expect(span.attributes.get("url.full") == .string("http://localhost:80/me?token=REDACTED"))
        #expect(span.status == nil)
        #expect(tracer.finishedSpans[1].status?.code == .error)
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

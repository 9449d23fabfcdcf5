// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// W3C Trace Context, section 3.2.
struct TraceContextTests {
    private let seen = EventLog<String>()

    private var transport: TestConnector<ClosureResponses> {
        TestConnector { [seen] request in
            seen.note(request.headers["traceparent"] ?? "-")
            return request.url.path() == "/me" ? .status(307, headers: [.location: "/you"]) : .status(200)
        }
    }

    private func call(_ provider: some DataRequestType, headers: HTTPHeaders = [:]) async throws {
        let api = NetworkConnector(environment: .localhost, provider: provider, router: Router.self)
        try await api.send(at: .me, options: CallOptions(headers: headers))
    }

    @Test func theIdsComeFromTheGivenRandomSource() async throws {
        let next = Locked<UInt64>(0x0af7_6519_16cd_43dd)
        let random: @Sendable () -> UInt64 = {
            next.withLock { number in
                defer { number += 1 }; return number
            }
        }
        try await call(transport.tracing(random: random))
        #expect(
            seen.events == [
                "00-0af7651916cd43dd0af7651916cd43de-0af7651916cd43df-01",
                "00-0af7651916cd43dd0af7651916cd43de-0af7651916cd43e0-01",
            ]
        )
    }

    @Test func noIdIsAllZeros() async throws {
        try await call(transport.tracing(isSampled: false, random: { 0 }))
        #expect(seen.events.first == "00-00000000000000000000000000000001-0000000000000001-00")
    }

    @Test func everyIdIsValid() async throws {
        let pattern = /00-(?<trace>[0-9a-f]{32})-(?<parent>[0-9a-f]{16})-01/
        for _ in 0..<100 { try await call(transport.tracing()) }
        #expect(seen.events.count == 200)
        for text in seen.events {
            let match = try #require(text.wholeMatch(of: pattern))
            #expect(match.trace.contains { $0 != "0" } && match.parent.contains { $0 != "0" })
        }
        #expect(Set(seen.events).count == 200)
    }

    @Test func anExistingTraceOfTheCallIsKept() async throws {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        try await call(transport.tracing(), headers: ["Traceparent": parent])
        #expect(seen.events == [parent, parent])
    }

    @Test func theTraceIdIsTheOneInTheEvents() async throws {
        let recorder = EventRecorder()
        try await call(transport.tracing().observing(by: recorder))
        let call = try #require(recorder.events.first?.call)
        #expect(seen.events.count == 2)
        for text in seen.events { #expect(text.contains("-\(call)-")) }
    }
}

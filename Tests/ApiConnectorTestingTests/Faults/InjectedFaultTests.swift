// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// The result of each fault for a caller, in a collected and in a streamed body.
@Suite(.timeLimit(.minutes(10))) struct InjectedFaultTests {}

extension InjectedFaultTests {
    static let body = Data("0123456789".utf8)

    /// The result of a request.
    struct Sight: Equatable, Sendable {
        var status: HTTPStatus?
        var body = Data()
        var kind: ApiConnectorError.Kind?
        var hasHead = false
        var wasAsked = false
    }

    private func sight(_ fault: Fault, streamed: Bool) async throws -> (Sight, ApiConnectorError?) {
        let asked = Locked(false)
        let provider = TestConnector { _ in
            asked.withLock { $0 = true }
            return streamed ? .data(Self.body).chunked(byteCount: 4) : .data(Self.body)
        }.injecting(FaultPlan([FaultPlan.Entry("GET /teas", fault)]))
        var request = ApiRequest(url: try #require(URL(string: "http://a.test/teas")))
        if streamed { request.delivery = .streamed }
        var sight = Sight()
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            sight.status = response.status
            sight.hasHead = true
            for try await chunk in response.body { sight.body += chunk }
        } catch {
            sight.kind = error.kind
            failure = error
        }
        sight.wasAsked = asked.withLock { $0 }
        return (sight, failure)
    }

    @Test(
        arguments: [
            ("refused@send", ApiConnectorError.Kind.cannotConnect, false), ("reset@send", .connectionLost, false),
            ("truncated@send", .connectionLost, false), ("malformed@send", .malformedResponse, false),
            ("garbage@send", .malformedResponse, false), ("reset@head", .connectionLost, true),
            ("truncated@head", .connectionLost, true), ("malformed@head", .malformedResponse, true),
            ("garbage@head", .malformedResponse, true),
        ],
        [false, true]
    )
    func aFaultBeforeTheHeadIsThrownByTheProvider(
        _ row: (fault: String, kind: ApiConnectorError.Kind, wasAsked: Bool),
        streamed: Bool
    ) async throws {
        let (sight, error) = try await sight(try #require(Fault(row.fault)), streamed: streamed)
        #expect(sight == Sight(kind: row.kind, wasAsked: row.wasAsked))
        #expect(error?.stage == .provider && error?.request?.url == "http://a.test/teas" && error?.response == nil)
        #expect(error?.detail.hasSuffix("an injected fault") == true)
    }

    @Test(
        arguments: [0, 1, 4, 5, 10, 11],
        [
            ("reset", ApiConnectorError.Kind.connectionLost), ("truncated", .connectionLost),
            ("malformed", .malformedResponse),
        ]
    )
    func aFaultInTheBodyComesAfterTheEarlierBytes(_ count: Int, _ row: (name: String, kind: ApiConnectorError.Kind))
        async throws
    {
        let fault = try #require(Fault("\(row.name)@\(count)"))
        let (streamed, error) = try await sight(fault, streamed: true)
        #expect(
            streamed == Sight(status: 200, body: Self.body.prefix(count), kind: row.kind, hasHead: true, wasAsked: true)
        )
        #expect(error?.stage == .provider && error?.request?.url == "http://a.test/teas")
        let (collected, _) = try await sight(fault, streamed: false)
        #expect(collected == Sight(kind: row.kind, wasAsked: true))
    }

    @Test(arguments: ["reset@end", "truncated@end", "malformed@end"], [false, true])
    func aFaultAtTheEndComesAfterAllBytes(_ text: String, streamed: Bool) async throws {
        let (sight, _) = try await sight(try #require(Fault(text)), streamed: streamed)
        #expect(sight.kind == (text == "malformed@end" ? .malformedResponse : .connectionLost))
        #expect(sight.body == (streamed ? Self.body : Data()))
    }

    @Test(arguments: [0, 3, 4, 9], [false, true])
    func garbageReplacesBytes(_ count: Int, streamed: Bool) async throws {
        let (sight, _) = try await sight(Fault(.garbage, at: .byte(count)), streamed: streamed)
        #expect(sight.kind == nil && sight.body.count == 10)
        #expect(sight.body.prefix(count) == Self.body.prefix(count))
        #expect(String(data: sight.body.dropFirst(count).prefix(1), encoding: .utf8) == nil)
        #expect(sight.body.dropFirst(count).allSatisfy { $0 >= 0xF8 })
    }

    @Test(arguments: ["garbage@end", "garbage@10", "garbage@100"], [false, true])
    func garbageFollowsTheEnd(_ text: String, streamed: Bool) async throws {
        let (sight, _) = try await sight(try #require(Fault(text)), streamed: streamed)
        #expect(sight.kind == nil && sight.body.count == 26 && sight.body.prefix(10) == Self.body)
    }

    @Test(arguments: [("503@send", false), ("503@head", true)], [false, true])
    func aStatusHasAPageOfHTML(_ row: (fault: String, wasAsked: Bool), streamed: Bool) async throws {
        let (sight, _) = try await sight(try #require(Fault(row.fault)), streamed: streamed)
        #expect(sight.status == 503 && sight.wasAsked == row.wasAsked)
        #expect(
            String(decoding: sight.body, as: UTF8.self) == "<html><body><h1>503 Service Unavailable</h1></body></html>"
        )
    }

    @Test func aStatusCarriesRetryAfterAndHasNoBodyForHEAD() async throws {
        let provider = TestConnector { _ in .status(200) }
            .injecting(FaultPlan([FaultPlan.Entry("HEAD /", Fault(.status(429, retryAfter: .seconds(3)), at: .head))]))
        let request = ApiRequest(url: try #require(URL(string: "http://a.test/")), method: .head)
        let response = try await provider.response(for: request)
        #expect(response.status == 429 && response.headers[.retryAfter] == "3")
        #expect(try await response.body.collect(upTo: 10).isEmpty)
    }

    @Test func onlyThePlannedCallFails() async throws {
        let provider = TestConnector { _ in .status(200) }.injecting(try #require(FaultPlan("POST /a #2 503@send")))
        func status(_ path: String, _ body: String) async throws -> HTTPStatus {
            let url = try #require(URL(string: "http://a.test\(path)"))
            return try await provider.response(for: ApiRequest(url: url, method: .post, body: .text(body))).status
        }
        #expect(try await status("/a", "x") == 200)
        #expect(try await status("/b", "x") == 200)
        // The second of the same path, though its body is another one.
        #expect(try await status("/a", "y") == 503)
        #expect(try await status("/a", "x") == 200)
    }

    // MARK: - Silence

    static let limits: [(Timeouts, Duration, ApiConnectorError.Kind)] = [
        (Timeouts(attempt: .seconds(9), stall: Timeouts.noLimit), .seconds(9), .timedOut),
        (Timeouts(attempt: nil, stall: .seconds(8)), .seconds(8), .stalled),
        (Timeouts(stall: Timeouts.noLimit, overall: .seconds(7)), .seconds(7), .deadlineExceeded),
    ]

    @Test(arguments: ["stall@send", "stall@head", "stall@3", "stall@end", "timeout@head", "timeout@3"], 0..<3)
    func aStallEndsAtTheConnectionsTimeout(_ text: String, _ index: Int) async throws {
        let (timeouts, length, kind) = Self.limits[index]
        for streamed in [false, true] {
            let clock = ManualClock()
            let call = Task { try await read(text, timeouts, clock, streamed: streamed) }
            // Until it is over: silence counts again with each part of the answer, and one may arrive after a move.
            let mover = Task {
                while true {
                    if try await clock.nextSleep(within: .seconds(Int64.max)) == length { clock.advance(by: length) }
                }
            }
            let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
            mover.cancel()
            #expect(error?.kind == kind)
            if kind != .stalled { #expect(error?.elapsed == length) }
        }
    }

    @Test(arguments: ["timeout@send", "timeout@head", "timeout@3", "timeout@end"], [false, true])
    func aTimeoutFaultEndsByItself(_ text: String, streamed: Bool) async throws {
        let clock = ManualClock()
        let call = Task { try await read(text, .unlimited, clock, streamed: streamed) }
        #expect(try await clock.nextSleep() == .seconds(30))
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == (text == "timeout@send" ? .cannotConnect : .timedOut))
    }

    @Test(arguments: ["stall@send", "stall@head", "stall@3", "timeout@head", "timeout@end"], [false, true])
    func aCancelEndsAStallAtOnce(_ text: String, streamed: Bool) async throws {
        let clock = ManualClock()
        let asked = Gate("asked")
        let call = Task { try await read(text, .unlimited, clock, streamed: streamed, asked) }
        if text != "stall@send" { try await asked.opened() }
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
    }

    private func read(
        _ fault: String,
        _ timeouts: Timeouts,
        _ clock: ManualClock,
        streamed: Bool,
        _ asked: Gate? = nil
    ) async throws {
        let plan = FaultPlan([FaultPlan.Entry("GET /teas/1", try #require(Fault(fault)))])
        let provider = TestConnector { _ in
            asked?.open()
            return .json(Tea.green)
        }.injecting(plan)
        let shop = NetworkConnector(
            environment: .test,
            provider: provider,
            router: Shop.self,
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        )
        guard streamed else {
            _ = try await shop.data(at: .tea(id: 1))
            return
        }
        for try await _ in shop.stream(at: .tea(id: 1), as: .chunks) {}
    }
}

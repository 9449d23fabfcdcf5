// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10))) struct EverySingleFaultTests {}

extension EverySingleFaultTests {
    private func shop(
        _ run: FaultRun,
        _ provider: some DataRequestType = TestConnector { _ in .json(Tea.green) },
        timeouts: Timeouts = Timeouts()
    ) -> NetworkConnector<AnyProvider, Shop> {
        run.shop(over: provider.injecting(run), timeouts: timeouts)
    }

    @Test func runsOnceForEachPlaceAndEffectOfEachExchange() async throws {
        let plans = Locked<[FaultPlan]>([])
        let kinds = Locked<[ApiConnectorError.Kind: Int]>([:])
        let count = try await FaultTest.everySingleFault { run in
            plans.withLock { $0.append(run.plan) }
            for id in [1, 2] {
                do throws(ApiConnectorError) {
                    _ = try await shop(run).data(at: .tea(id: id))
                } catch {
                    kinds.withLock { $0[error.kind, default: 0] += 1 }
                }
            }
        }
        // Nine before sending, seven in the head, six at each of three bytes and at the end.
        #expect(count == 1 + 2 * (9 + 7 + 4 * 6))
        let texts = plans.withLock { $0 }.map(\.description)
        #expect(texts.count == count && Set(texts).count == count)
        #expect(texts.first == "")
        #expect(texts.contains("GET /teas/2 #1 truncated@11"))
        #expect(texts.contains("GET /teas/1 #1 stall@end"))
        let seen = kinds.withLock { $0 }
        // Garbage in a body does not concern a transport.
        let failureCount = seen.values.reduce(0, +)
        #expect(failureCount == 72)
        #expect(
            Set(seen.keys) == [
                .cannotConnect, .connectionLost, .malformedResponse, .timedOut, .stalled, .unacceptableStatus,
            ]
        )
    }

    /// A transport whose system has more bytes when it is asked, and says so from another thread.
    private struct LateReader: DataRequestType {
        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            await request.withStopHandler {
            } readPending: { completion in
                request.reportProgress()
                Task { completion() }
            } onStop: { _ in
            }
            let chunks = Locked([Data("[]".utf8)])
            let body = ResponseBody(pulling: { chunks.withLock { $0.popLast() } }, cancel: {})
            return ApiResponse(to: request, status: 200, body: body)
        }
    }

    @Test func aStallEndsTheCallEvenIfTheTransportStillReceivesBytes() async throws {
        let stalls = [Fault(.stall, at: .head), Fault(.stall, at: .byte(0)), Fault(.stall, at: .end)]
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        let count = try await FaultTest.everySingleFault(of: .only(stalls)) { run in
            do throws(ApiConnectorError) {
                _ = try await shop(run, LateReader()).data(at: .tea(id: 1))
            } catch {
                kinds.withLock { $0.append(error.kind) }
            }
        }
        #expect(count == 4)
        #expect(kinds.withLock { $0 } == [.stalled, .stalled, .stalled])
    }

    /// A transport that receives a byte every five seconds until its body is dropped.
    private final class Trickle: DataRequestType {
        private let isDropped = Locked(false)

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            receive(for: request)
            let body = ResponseBody(
                pulling: { () async throws(ApiConnectorError) -> Data? in Data("a".utf8) },
                cancel: { self.isDropped.withLock { $0 = true } }
            )
            return ApiResponse(to: request, status: 200, body: body)
        }

        private func receive(for request: ApiRequest) {
            guard !isDropped.withLock({ $0 }) else { return }
            request.reportProgress()
            _ = request.timeSource.schedule(at: request.timeSource.now + .seconds(5)) { self.receive(for: request) }
        }
    }

    @Test func aStallInTheHeadReleasesTheRealBody() async throws {
        let kinds = Locked<[ApiConnectorError.Kind]>([])
        try await FaultTest.everySingleFault(of: .only([Fault(.stall, at: .head)])) { run in
            var request = ApiRequest(url: try #require(URL(string: "https://shop.example.com/")), delivery: .streamed)
            request.timeSource = run.timeSource
            let provider = Trickle().injecting(run).timeLimiting(stall: .seconds(20))
            do throws(ApiConnectorError) {
                _ = try await provider.response(for: request)
            } catch {
                kinds.withLock { $0.append(error.kind) }
            }
        }
        #expect(kinds.withLock { $0 } == [.stalled])
    }

    @Test func collectsEveryFailureWithItsFault() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(of: .only([Fault(.reset, at: .head), Fault(.status(503), at: .head)]))
            { run in
                let tea = try await shop(run).value(Tea.self, at: .tea(id: 1))
                #expect(tea == .green)
            }
        }
        #expect(failure?.plans.map(\.description) == ["GET /teas/1 #1 reset@head", "GET /teas/1 #1 503@head"])
        let lines = failure?.description.split(separator: "\n") ?? []
        #expect(lines.count == 3)
        #expect(lines.first == "2 of 3 runs failed:")
        #expect(
            lines.dropFirst().first?.hasPrefix(
                #"- FaultPlan("GET /teas/1 #1 reset@head"): GET https://shop.example.com/teas/1 failed "#
                    + "(connectionLost): the connection was reset in the head of the response, an injected fault"
            ) == true
        )
    }

    @Test func reportsABodyThatFailsWithoutAFault() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault { run in
                _ = try await shop(run, TestConnector { _ in .status(404) }).data(at: .tea(id: 1))
            }
        }
        #expect(failure?.description.hasPrefix("It fails without any fault: GET ") == true)
    }

    @Test func reportsABodyThatInjectsNothing() async throws {
        let failure = await #expect(throws: FaultFailure.self) { try await FaultTest.everySingleFault { _ in } }
        #expect(failure?.description == "The run saw no request; wrap the provider with injecting(run).")
    }

    @Test func aConnectionOnAnotherClockIsRefused() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault { run in
                let provider = TestConnector { _ in .json(Tea.green) }.injecting(run)
                let shop = NetworkConnector(environment: ShopServer.test, provider: provider, router: Shop.self)
                _ = try await shop.data(at: .tea(id: 1))
            }
        }
        #expect(failure?.description.contains("set the connection's timeSource to the run's") == true)
    }

    @Test func reportsAnExchangeThatDoesNotOccurAgain() async throws {
        let count = Locked(0)
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(of: .only([Fault(.reset, at: .head)])) { run in
                let id = count.withLock { count in
                    count += 1
                    return count
                }
                _ = try await shop(run).data(at: .tea(id: id))
            }
        }
        #expect(failure?.description.contains("the exchange of the first run did not occur again") == true)
    }

    @Test func reportsAWaitWithoutATimeout() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(of: .only([Fault(.stall, at: .head)]), within: .milliseconds(500)) {
                run in
                _ = try? await shop(run, timeouts: .unlimited).data(at: .tea(id: 1))
            }
        }
        #expect(
            failure?.description.contains(
                "it did not end (most likely, a wait for a silent server has no timeout) within 0.5 seconds"
            ) == true
        )
    }

    @Test func scriptsAreCheckedInEachRun() async throws {
        // Not asked for after a fault, which is no issue; asked for too often by a retry, which is one.
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everySingleFault(
                of: .only([Fault(.reset, at: .head), Fault(.reset, at: .beforeSending)])
            ) {
                run in
                let script = Script(for: Shop.self, in: .test)
                script.on(.tea(id: 1)).answer(Tea.green)
                script.on(.tea(id: 2)).answer(Tea.black)
                let shop = NetworkConnector(
                    environment: .test,
                    provider: TestConnector(script).injecting(run).retrying(),
                    router: Shop.self,
                    configuration: ConnectionConfiguration(timeSource: run.timeSource)
                )
                guard (try? await shop.data(at: .tea(id: 1))) != nil else { return }
                _ = try await shop.data(at: .tea(id: 2))
            }
        }
        #expect(failure?.plans.map(\.description) == ["GET /teas/1 #1 reset@head", "GET /teas/2 #1 reset@head"])
        #expect(failure?.description.contains("used up") == true)
    }

    @Test func waitsTakeNoRealTime() async throws {
        try await FaultTest.everySingleFault(of: .transient) { run in
            let policy = RetryPolicy(
                maximumDuration: nil,
                initialDelay: .seconds(600),
                maximumDelay: .seconds(600),
                random: { 0.5 }
            )
            let provider = TestConnector { _ in .json(Tea.green) }.injecting(run).retrying(policy)
            let shop = NetworkConnector(
                environment: .test,
                provider: provider,
                router: Shop.self,
                configuration: ConnectionConfiguration(timeSource: run.timeSource)
            )
            let tea = try await shop.value(Tea.self, at: .tea(id: 1))
            #expect(tea == .green, "\(run)")
            if run.fault != nil { #expect(run.timeSource.now > .zero, "\(run)") }
        }
    }

    @Test func aRetryAfterTakesNoRealTimeUnlessATimeoutComesFirst() async throws {
        let rows: [(Int, Int, ApiConnectorError.Kind?)] = [(5, 10, nil), (20, 10, .stalled)]
        for (pause, limit, kind) in rows {
            let run = FaultRun(.none)
            let provider = TestConnector { _ in
                .json(Tea.green).chunked(byteCount: 5).pausing(.seconds(pause), on: run.timeSource)
            }
            var failure: ApiConnectorError?
            do throws(ApiConnectorError) {
                _ = try await shop(run, provider, timeouts: Timeouts(stall: .seconds(limit))).data(at: .tea(id: 1))
            } catch {
                failure = error
            }
            #expect(failure?.kind == kind)
        }
    }

    @Test func aServerThatNeverAnswersEndsInATimeout() async throws {
        let run = FaultRun(.none)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await shop(run, TestConnector { _ in .never }).data(at: .tea(id: 1))
        }
        #expect(error?.kind == .stalled)
        #expect(run.timeSource.now == .seconds(60))
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// An observer gets the events of each call once and in order.
///
/// The calls run concurrently. They are redirected, collected, streamed, abandoned, canceled, interrupted or stopped by
/// a limit, at random.
@Suite(.timeLimit(.minutes(10))) struct ObservedModelTests {}

extension ObservedModelTests {
    @Test func everyStartHasOneFinishAndAllOtherEventsAreBetween() async throws {
        var random = SplitMix64.printed()
        for run in 0..<max(SplitMix64.caseCount / 10, 1) {
            let recorder = EventRecorder()
            let clock = ManualClock()
            let outer = EventRecorder()
            let api = transport.observing(by: recorder).observing(by: outer)
                .connected(Timeouts(attempt: .seconds(10)), on: clock)
            var calls: [Task<Void, Never>] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let seed = random.next()
                calls.append(Task { await Self.call(api, SplitMix64(seed: seed)) })
            }
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                await Task.yield()
                switch Int.random(in: 0..<4, using: &random) {
                case 0: calls.randomElement(using: &random)?.cancel()
                case 1: clock.advance(by: .seconds(Int.random(in: 1...6, using: &random)))
                default: break
                }
            }
            for call in calls {
                call.cancel()
                await call.value
            }
            // The end by a timeout may be reported on another thread, a moment later.
            await eventually { !recorder.isInTheMiddle && !outer.isInTheMiddle }
            for events in [recorder.events, outer.events] {
                let problem = Self.problem(in: events)
                #expect(problem == nil, "run \(run)")
                if problem != nil { return }
            }
        }
    }

    /// The first thing that is not as it should be.
    private static func problem(in events: [CallEvent]) -> String? {
        for (call, events) in Dictionary(grouping: events, by: \.call) {
            var isOpen = false
            var hasHead = false
            var byteCount = 0
            for event in events {
                switch event.kind {
                case .started:
                    if isOpen { return "\(call): started twice" }
                    (isOpen, hasHead, byteCount) = (true, false, 0)
                case .head:
                    if !isOpen || hasHead { return "\(call): a head where there should be none" }
                    hasHead = true
                case .bytes(let count):
                    if !isOpen || !hasHead { return "\(call): bytes where there should be none" }
                    byteCount += count
                case .finished(let totals):
                    if !isOpen { return "\(call): finished twice" }
                    if totals.byteCount != byteCount { return "\(call): \(totals.byteCount) bytes, not \(byteCount)" }
                    isOpen = false
                case .redirected:
                    if isOpen { return "\(call): redirected before the end" }
                default:
                    return "\(call): \(event.kind)"
                }
            }
            if isOpen { return "\(call): never finished" }
        }
        return nil
    }

    private static func call(_ api: NetworkConnector<AnyProvider, Router>, _ seed: SplitMix64) async {
        var random = seed
        let options = CallOptions(headers: ["X-Seed": "\(random.next())"])
        if Bool.random(using: &random) {
            _ = try? await api.data(at: .me, options: options)
        } else {
            let count = Int.random(in: 0..<6, using: &random)
            var seen = 0
            do {
                for try await _ in api.stream(at: .me, as: .chunks, options: options) {
                    seen += 1
                    if seen > count { break }
                    if Bool.random(using: &random) { await Task.yield() }
                }
            } catch {}
        }
    }

    /// Answers by the seed that the request carries and the hop that its path names.
    private var transport: TestConnector<ClosureResponses> {
        TestConnector { request in
            var random = SplitMix64(seed: UInt64(request.headers["X-Seed"] ?? "") ?? 0)
            let isFirst = request.url.path() == "/me"
            let body = TestConnectorResponse.data(Data("0123456789".utf8))
            if Bool.random(using: &random), isFirst {
                return .chunks([Data("moved".utf8)], status: 302, headers: [.location: "/you"])
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return body
            case 1: return body.chunked(byteCount: 3)
            case 2: return body.chunked(byteCount: 2).failing(.afterByteCount(5))
            case 3: throw URLError(.networkConnectionLost)
            case 4: return .never
            default: return .feed(BodyFeed())
            }
        }
    }
}

extension EventRecorder {
    /// Whether a start has no finish yet.
    fileprivate var isInTheMiddle: Bool {
        let texts = texts
        return texts.count { $0 == "started" } != texts.count { $0.hasPrefix("finished") }
    }
}

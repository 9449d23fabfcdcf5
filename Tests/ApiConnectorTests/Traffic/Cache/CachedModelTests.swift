// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// `cached` and `deduplicated` over random interleavings of calls by several users, answers, failures, changes on the
/// server, cancels and steps of the clock.
@Suite(.timeLimit(.minutes(10))) struct CachedModelTests {}

extension CachedModelTests {
    @Test func noCallGetsAnotherUsersOrATooOldResponse() async throws {
        await SplitMix64.runs(max(SplitMix64.caseCount / 10, 1)) { random in try await interleave(using: &random) }
    }

    /// A server whose every answer says whose it is, and until when it is good.
    private final class Server: DataRequestType {
        let clock: ManualClock
        private let held = HeldServer()
        private let versions = Locked(0)
        private let answeredPosts = Locked(0)
        /// By path, the version that an unsafe request made which has been answered.
        private let floors = Locked<[String: Int]>([:])

        init(_ clock: ManualClock) { self.clock = clock }

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            // As of its arrival, as a server may that is slow to answer.
            let arrivalVersion = versions.withLock { $0 }
            var response = try await held.response(for: request)
            let version = request.method == .get ? arrivalVersion : versions.withLock { $0 } + 1
            if request.method == .post, response.status == 200 { change() }
            let tag = "\"\(request.modelSubject) \(version)\""
            let seconds = [0, 10, 40][version % 3]
            let end = Int(clock.now / .seconds(1)) + seconds
            response.headers = ["Cache-Control": "private, max-age=\(seconds), stale-if-error=5", "ETag": tag]
            response.headers["X-End"] = String(end)
            response.headers["Vary"] = version % 2 == 0 ? "X-Part" : "x-other, x-part"
            if request.headers[.ifNoneMatch] == tag, response.status == 200 {
                response.status = 304
                response.body = ResponseBody(Data())
            } else {
                response.body = ResponseBody(Data("\(request.modelSubject) \(version)".utf8))
            }
            return response
        }

        func change() { versions.withLock { $0 += 1 } }

        var answeredPostCount: Int { answeredPosts.withLock { $0 } }
        var postCount: Int { held.requests.count { $0.method == .post } }

        /// The oldest version that a call which starts now may get.
        func floor(of request: ApiRequest) -> Int { floors.withLock { $0[request.url.path()] ?? 0 } }

        /// A call has ended that has changed something.
        func raiseFloor(of request: ApiRequest, to version: Int) {
            answeredPosts.withLock { $0 += 1 }
            floors.withLock { $0[request.url.path()] = max($0[request.url.path()] ?? 0, version) }
        }

        func answer(using random: inout SplitMix64) {
            guard let number = held.held.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: held.answer(number, .failure(.connectionLost))
            case 1: held.answer(number, .status(503))
            default: held.answer(number)
            }
        }

        func calmDown() { held.calmDown() }
        var heldCount: Int { held.held.count }
    }

    private struct Call {
        let subject: String
        let task: Task<String?, Never>
    }

    private func interleave(using random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let server = Server(clock)
        let storage = MemoryCacheStorage(maximumByteCount: 4000)
        let deduplicated = Deduplicated(server)
        let provider = deduplicated.caching(in: storage)
        let queue = TimerQueue.on(clock)
        var calls: [Call] = []
        var postCount = 0
        for _ in 0..<Int.random(in: 10...50, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let path = Int.random(in: 0..<2, using: &random)
                var request = ApiRequest(url: try #require(URL(string: "http://h/\(path)")))
                let user = Int.random(in: 0..<3, using: &random)
                if user > 0 { request.headers[.authorization] = "Bearer \(user)" }
                if Bool.random(using: &random) { request.headers["X-Part"] = "2" }
                request.cacheUse =
                    [.standard, .standard, .standard, .reload, .cached][Int.random(in: 0..<5, using: &random)]
                request.timers = queue
                if Int.random(in: 0..<6, using: &random) == 0 {
                    request.method = .post
                    request.cacheUse = .standard
                    postCount += 1
                }
                let task = Task { [request] in
                    return await problem(of: request, provider, server)
                }
                calls.append(Call(subject: request.modelSubject, task: task))
            case 5..<9:
                server.answer(using: &random)
            case 9:
                calls.randomElement(using: &random)?.task.cancel()
            case 10:
                server.change()
            default:
                clock.advance(by: .seconds(Int.random(in: 1...20, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        server.calmDown()
        for call in calls {
            let problem = await call.task.value
            #expect(problem == nil, "\(call.subject)")
        }
        #expect(deduplicated.calls.count == 0)
        #expect(server.heldCount == 0)
        #expect(server.postCount <= postCount && server.answeredPostCount <= server.postCount)
        #expect(storage.byteCount <= storage.maximumByteCount)
    }

    /// The problem of a call's response; nil if there is none.
    private func problem(of request: ApiRequest, _ provider: some DataRequestType, _ server: Server) async -> String? {
        let start = Int(server.clock.now / .seconds(1))
        let floor = server.floor(of: request)
        do throws(ApiConnectorError) {
            let response = try await provider.attempt(request, within: .unlimited)
            let text = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
            guard response.cacheHit != nil || response.status == 200 || response.status == 503 else {
                return "\(response.status)"
            }
            guard response.headers[.etag] == "\"\(text)\"", text.hasPrefix(request.modelSubject + " "),
                let version = text.split(separator: " ").last.flatMap({ Int($0) })
            else { return text }
            if request.method == .post, response.status == 200 { server.raiseFloor(of: request, to: version) }
            if version < floor { return "\(text), after \(floor) was made" }
            let end = response.headers["X-End"].flatMap { Int($0) } ?? 0
            switch response.cacheHit {
            case .fresh where end <= start: return "fresh, but good until \(end), asked at \(start)"
            case .fresh where request.cacheUse == .reload: return "fresh, not from the server"
            case .stale where request.cacheUse == .standard && end + 5 < start:
                return "stale since \(end), asked at \(start)"
            case nil where request.cacheUse == .cached: return "sent, though it should not be"
            default: return nil
            }
        } catch {
            let isExpected = [.cancelled, .connectionLost].contains(error.kind)
            return isExpected || error.kind == .notCached && request.cacheUse == .cached ? nil : "\(error)"
        }
    }
}

extension ApiRequest {
    /// The path, the user and the part of the request.
    fileprivate var modelSubject: String { "\(subject), \(headers["X-Part"] ?? "1")" }
}

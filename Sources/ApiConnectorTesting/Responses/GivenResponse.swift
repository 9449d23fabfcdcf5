// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A source that records how its responses end.
package protocol GivenResponseSource: ResponseSource {
    /// The response to a request, with the exchange in which it is delivered.
    func given(to request: ApiRequest) async throws -> GivenResponse
}

/// A canned response on its way to a request, and the exchange that records how it ends.
package struct GivenResponse: Sendable {
    package var canned: TestConnectorResponse

    /// The exchange of a script or a conformance case; nil for other sources.
    package var exchange: OpenExchange?

    package init(canned: TestConnectorResponse, exchange: OpenExchange? = nil) {
        self.canned = canned
        self.exchange = exchange
    }

    /// The canned response alone, for a user's source that returns it.
    ///
    /// The exchange ends here, because the library does not see how the user's source delivers the response.
    package func withoutExchange() -> TestConnectorResponse {
        switch canned.answer {
        case .response(let status, _, _): exchange?.end(.answered(status))
        case .failure(let error): exchange?.end(error)
        case .broken(let error): exchange?.end(error)
        case .never: exchange?.wait()
        }
        return canned
    }

    /// Delivers the response as a transport would.
    @inline(__always)
    func delivered(to request: ApiRequest) async throws -> ApiResponse {
        let answer = canned.answer(to: request)
        // Most responses are complete. They need no time limits, whose set-up takes as long as the whole call.
        if canned.pause == nil, case .response(let status, let headers, .data(let data)) = answer,
            data.count <= request.delivery.maximumByteCount
        {
            exchange?.end(.answered(status))
            let response = ApiResponse(to: request, status: status, headers: headers, body: ResponseBody(data))
            return response.forbidsBody ? ApiResponse(to: request, status: status, headers: headers) : response
        }
        do {
            return try await request.withTimeLimits { (request) throws(ApiConnectorError) in
                do {
                    return try await delivered(answer, to: request)
                } catch {
                    throw ApiConnectorError(mapping: error, request: request)
                }
            }
        } catch {
            exchange?.end(error)
            throw error
        }
    }

    /// Delivers a response that waits, that fails, or that has a body in steps.
    private func delivered(
        _ answer: TestConnectorResponse.Answer,
        to request: ApiRequest
    ) async throws -> ApiResponse {
        if let pause = canned.pause { try await pause.wait(of: request, exchange) }
        switch answer {
        case .response(let status, let headers, let content):
            return try await response(to: request, status, headers, content)
        case .failure(let error):
            throw error
        case .broken(let error):
            throw error
        case .never:
            exchange?.wait()
            let silence = Silence(of: request, timeout: nil)
            exchange?.stopped.whenSet { silence.end($0) }
            throw await silence.wait()
        }
    }

    private func response(
        to request: ApiRequest,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ content: TestConnectorResponse.Content
    ) async throws(ApiConnectorError) -> ApiResponse {
        var response = ApiResponse(to: request, status: status, headers: headers)
        switch content {
        case .steps(let steps) where !response.forbidsBody:
            response.body = try await SteppedBody(steps, status, exchange).delivered(to: request)
        case .data(let data) where !response.forbidsBody:
            response.body = ResponseBody(try await ResponseBody(data).collect(upTo: request.delivery.maximumByteCount))
            exchange?.end(.answered(status))
        default:
            exchange?.end(.answered(status))
        }
        return response
    }
}

/// A step of a body's delivery.
package enum BodyStep: Sendable {
    case bytes(Data)
    case pause(Pause)
    case failure(ApiConnectorError)
    /// The pieces that a test feeds. If the body must break off, at most `upTo` bytes are delivered.
    case feed(BodyFeed, upTo: Int? = nil)
}

/// A pause in the delivery.
///
/// It is a class, because a struct would make all answers larger, even those without a pause.
package final class Pause: Sendable {
    package let length: Duration
    package let timeSource: any TimeSource

    package init(length: Duration, timeSource: any TimeSource) {
        self.length = length
        self.timeSource = timeSource
    }

    /// Waits before a response's head, unless the call ends first.
    package func wait(of request: ApiRequest, _ exchange: OpenExchange?) async throws(ApiConnectorError) {
        let over = Eventual<Void>()
        let sleeping = sleep { over.set(()) }
        defer { sleeping.cancel() }
        try await OpenExchange.wait(for: over, of: request, until: exchange?.stopped)
    }

    /// Waits inside a body, unless the body is stopped first.
    package func wait(orUntil stopped: Eventual<ApiConnectorError>) async throws(ApiConnectorError) {
        let end = Eventual<ApiConnectorError?>()
        let sleeping = sleep { end.set(nil) }
        let watch = stopped.whenSet { end.set($0) }
        defer {
            stopped.forget(watch)
            sleeping.cancel()
        }
        if let error = await end.value() { throw error }
    }

    private func sleep(_ onEnd: @escaping @Sendable () -> Void) -> Task<Void, any Error> {
        let due = timeSource.now + length
        return Task { [timeSource] in
            try await timeSource.sleep(until: due)
            onEnd()
        }
    }
}

/// A canned body that is delivered step by step as the client reads it.
private final class SteppedBody: Sendable {
    private let steps: Locked<ArraySlice<BodyStep>>
    private let status: HTTPStatus
    private let exchange: OpenExchange?
    private let stopped = Eventual<ApiConnectorError>()

    init(_ steps: [BodyStep], _ status: HTTPStatus, _ exchange: OpenExchange?) {
        self.steps = Locked(steps[...])
        self.status = status
        self.exchange = exchange
        exchange?.stopped.whenSet { [stopped] in stopped.set($0) }
    }

    /// The body for a request: streamed or collected, within the request's size limit and timeouts.
    func delivered(to request: ApiRequest) async throws(ApiConnectorError) -> ResponseBody {
        guard case .collected(upTo: let limit) = request.delivery else { return streamedBody }
        let body = body(onChunk: { request.reportProgress() }, onCancel: {})
        let result = await request.withStopHandler {
            do throws(ApiConnectorError) {
                return Result<Data, ApiConnectorError>.success(try await body.collect(upTo: limit))
            } catch {
                return .failure(error)
            }
        } onStop: { [stopped] in
            stopped.set($0)
        }
        return ResponseBody(try result.get())
    }

    private var streamedBody: ResponseBody { body(onChunk: {}, onCancel: { self.exchange?.end(.cancelled) }) }

    /// The body, which ends the exchange with an error of the body.
    ///
    /// - Parameter onCancel: Called when the reader stops before the end. The reader of a collected body then throws an
    ///   error, which ends the exchange.
    private func body(
        onChunk: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> ResponseBody {
        ResponseBody(
            pulling: { () async throws(ApiConnectorError) -> Data? in
                do throws(ApiConnectorError) {
                    let chunk = try await self.next()
                    onChunk()
                    return chunk
                } catch {
                    self.exchange?.end(error.kind == .cancelled ? .cancelled : .failed(error))
                    throw error
                }
            },
            cancel: {
                onCancel()
                self.stopped.set(ApiConnectorError(.cancelled, at: .response, "the call was canceled"))
            }
        )
    }

    private func next() async throws(ApiConnectorError) -> Data? {
        while let step = steps.withLock({ $0.popFirst() }) {
            if let error = stopped.current { throw error }
            switch step {
            case .bytes(let data):
                return data
            case .pause(let pause):
                try await pause.wait(orUntil: stopped)
            case .failure(let error):
                throw error
            case .feed(let feed, let limit):
                if let data = try await next(of: feed, limit) { return data }
            }
        }
        exchange?.end(.answered(status))
        return nil
    }

    /// The next piece of a feed, cut at the limit.
    ///
    /// At the limit, the feed is closed, because the client does not read the rest.
    private func next(of feed: BodyFeed, _ limit: Int?) async throws(ApiConnectorError) -> Data? {
        if limit == 0 { feed.close() }
        guard limit != 0, let data = try await feed.next(orUntil: stopped) else { return nil }
        let left = limit.map { max($0 - data.count, 0) }
        if left == 0 { feed.close() }
        steps.withLock { $0.insert(.feed(feed, upTo: left), at: $0.startIndex) }
        return limit.map { data.prefix($0) } ?? data
    }
}

/// A wait for a silent server.
///
/// A timeout or a cancel ends it, or the transport gives up.
final class Silence: Sendable {
    private struct State {
        var hasBegun = false
        var hasEnded = false
        var isServing = false
        var takeBackTimeout: (@Sendable () -> Void)?
    }

    private let request: ApiRequest
    /// The error with which the transport gives up; nil if the transport waits forever.
    private let timeout: ApiConnectorError?
    private let clock: SkippingClock?
    private let reason = Eventual<ApiConnectorError>()
    private let state = Locked(State())

    init(of request: ApiRequest, timeout: ApiConnectorError?) {
        self.request = request
        self.timeout = timeout
        clock = request.timeSource as? SkippingClock
    }

    /// Ends the wait; only the first error counts.
    func end(_ error: ApiConnectorError) {
        let before = state.withLock { state in
            defer { state.hasEnded = true }
            return state
        }
        guard !before.hasEnded else { return }
        reason.set(error)
        before.takeBackTimeout?()
        if before.hasBegun { clock?.endSilence(isServing: before.isServing) }
    }

    /// Waits for the end, within the request's timeouts, and returns the error.
    func wait() async -> ApiConnectorError {
        await request.withStopHandler {
            await reasonOfEnd()
        } readPending: { completion in
            // No bytes are pending. Without this closure, the stall timeout would use the real transport's closure,
            // whose completion could come after the clock has stopped.
            completion()
        } onStop: { [self] in
            end($0)
        }
    }

    private func reasonOfEnd() async -> ApiConnectorError {
        if let timeout {
            let due = request.timeSource.now + Fault.timeout
            let takeBack = request.timeSource.schedule(at: due) { [weak self] in self?.end(timeout) }
            let isOver = state.withLock { state in
                state.takeBackTimeout = takeBack
                return state.hasEnded
            }
            if isOver { takeBack() }
        }
        let isServing = SkippingClock.isServing
        let isSilent = state.withLock { state in
            state.hasBegun = !state.hasEnded
            state.isServing = isServing
            return state.hasBegun
        }
        // This comes last, because it may move the clock, and the silence may end before `beginSilence` returns.
        if isSilent { clock?.beginSilence(isServing: isServing) }
        return await reason.value()
    }
}

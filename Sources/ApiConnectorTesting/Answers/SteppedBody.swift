// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A canned body that is delivered step by step as the client reads it.
final class SteppedBody: Sendable {
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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The provider under test and the far side that it talks to.
struct ConformanceProbe: Sendable {
    let provider: any DataRequestType
    let side: any FarSide

    var log: FarLog { side.log }

    /// The targets that were asked for, in order.
    var targets: [String] { log.requests.map(\.target) }

    /// The server, in a case that needs one.
    func server() throws -> LoopbackServer {
        guard let side = side as? WireSide else { throw CaseFailure(description: "the case needs a socket") }
        return side.server
    }

    // MARK: - Asking

    func request(
        _ target: String = "/",
        _ method: HTTPMethod = .get,
        _ body: RequestBody = .empty,
        delivery: ResponseDelivery = .standard
    ) -> ApiRequest {
        ApiRequest(url: side.url(target), method: method, body: body, delivery: delivery)
    }

    /// Sends a request and gives the response with its body.
    ///
    /// To keep to the request's limit is the provider's.
    func send(_ request: ApiRequest) async throws(ApiConnectorError) -> (response: ApiResponse, body: Data) {
        let response = try await provider.response(for: request)
        return (response, try await response.body.collect(upTo: .max))
    }

    /// Sends a request and gives the response's body as a text.
    func text(_ request: ApiRequest) async throws(ApiConnectorError) -> String {
        String(decoding: try await send(request).body, as: UTF8.self)
    }

    /// Asks for a streamed response.
    func stream(_ target: String = "/") async throws(ApiConnectorError) -> ApiResponse {
        try await provider.response(for: request(target, delivery: .streamed))
    }

    // MARK: - Demanding

    func demand(_ condition: Bool, _ whatWasSeen: @autoclosure () -> String) throws {
        if !condition { throw CaseFailure(description: whatWasSeen()) }
    }

    func demandEqual<Value: Equatable>(_ seen: Value, _ expected: Value, _ what: String) throws {
        try demand(seen == expected, "\(what) is \(seen), not \(expected)")
    }

    /// Demands bytes, and prints none of them.
    func demandBytes(_ seen: Data, _ expected: Data, _ what: String) throws {
        try demand(seen == expected, "\(what) is not what was sent: \(seen.count) bytes for \(expected.count)")
    }

    /// Demands that a call fails with one of some kinds, and that its error names the request.
    ///
    /// Where the body is collected it is no response that fails: the provider's error is the only one.
    @discardableResult
    func demandFailure(of kinds: ApiConnectorError.Kind..., sending request: ApiRequest? = nil) async throws
        -> ApiConnectorError
    {
        let request = request ?? self.request()
        let response: ApiResponse
        do throws(ApiConnectorError) {
            response = try await provider.response(for: request)
            if request.delivery == .streamed { for try await _ in response.body {} }
        } catch {
            try demand(kinds.contains(error.kind), "it failed as \(error.kind), not \(kinds): \(error)")
            let isNamed = error.request?.method == request.method || request.delivery == .streamed
            try demand(isNamed, "the error does not name its request: \(error)")
            return error
        }
        throw CaseFailure(description: "a failure of \(kinds) was expected, and a response came: \(response.status)")
    }

    /// Demands that reading fails with a kind, and gives what came before.
    func demandFailure(of kind: ApiConnectorError.Kind, reading body: ResponseBody) async throws -> Data {
        var received = Data()
        do throws(ApiConnectorError) {
            for try await chunk in body { received += chunk }
        } catch {
            try demand(error.kind == kind, "reading failed as \(error.kind), not \(kind): \(error)")
            return received
        }
        throw CaseFailure(description: "reading was to fail as \(kind), and ended well after \(received.count) bytes")
    }

    // MARK: - Cancelling and limiting

    /// Cancels a call once something has happened, and demands that it fails as cancelled.
    func demandCancel(
        of request: ApiRequest,
        once hasHappened: @escaping @Sendable (ConformanceProbe) async throws -> Void
    ) async throws {
        let call = Task { _ = try await demandFailure(of: .cancelled, sending: request) }
        try await follow(call) {
            try await hasHappened(self)
            call.cancel()
        }
    }

    /// Cancels the reader of a stream whose first chunk is `abc` once it has that, and demands that it is answered.
    ///
    /// - Parameter isReading: Whether it waits for the next chunk then; it asks for that behind the cancel otherwise.
    func demandCancelOfReader(whileReading isReading: Bool) async throws {
        let hasRead = Eventual<Void>()
        let reader = Task {
            defer { hasRead.set(()) }
            try await demandFailure(of: .cancelled, readingBehindFirstChunk: stream()) {
                hasRead.set(())
                while !isReading, !Task.isCancelled { await Task.yield() }
            }
        }
        try await follow(reader) {
            await hasRead.value()
            reader.cancel()
        }
    }

    /// Reads a stream whose first chunk is `abc`, and demands that the next read fails.
    private func demandFailure(
        of kind: ApiConnectorError.Kind,
        readingBehindFirstChunk response: ApiResponse,
        once isRead: () async throws -> Void
    ) async throws {
        var chunks = response.body.makeAsyncIterator()
        try demandEqual(try await chunks.text(of: 3), "abc", "the first chunk")
        try await isRead()
        do throws(ApiConnectorError) {
            _ = try await chunks.next()
        } catch {
            return try demand(error.kind == kind, "reading failed as \(error.kind), not \(kind): \(error)")
        }
        throw CaseFailure(description: "reading was to fail as \(kind), and went on")
    }

    /// Lays limits of 30 seconds round the provider and moves the time on whenever somebody waits for it, until the call
    /// fails.
    ///
    /// - Parameter isStreamed: Whether it is to fail behind the first chunk of a stream, which is `abc`.
    func demandFailure(
        of kind: ApiConnectorError.Kind,
        limitedBy limit: (attempt: Duration?, stall: Duration?, total: Duration?),
        inStream isStreamed: Bool = false
    ) async throws {
        let clock = ManualClock()
        var request = request(delivery: isStreamed ? .streamed : .standard)
        request.timeSource = clock
        let provider = AnyProvider(provider)
        let limited = ConformanceProbe(
            provider: provider.timeLimited(attempt: limit.attempt, stall: limit.stall, total: limit.total),
            side: side
        )
        let mayMove = Eventual<Void>()
        let call = Task { [request] in
            guard isStreamed else {
                _ = try await limited.demandFailure(of: kind, sending: request)
                return
            }
            let response = try await limited.provider.response(for: request)
            try await demandFailure(of: kind, readingBehindFirstChunk: response) { mayMove.set(()) }
        }
        // Again and again, for bytes that still go into the kernel's buffers are no silence.
        let mover = Task {
            if isStreamed { await mayMove.value() } else { try await log.arrival(0) }
            while true { clock.advance(by: min(try await clock.nextSleep(), .seconds(30))) }
        }
        defer {
            mover.cancel()
            mayMove.set(())
        }
        try await follow(call) {}
    }

    /// Waits for a call's end and for what happens beside it; the first failure of the two is the case's.
    private func follow(
        _ call: Task<Void, any Error>,
        beside happening: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await call.value }
                group.addTask { try await happening() }
                do {
                    try await group.waitForAll()
                } catch {
                    call.cancel()
                    throw error
                }
            }
        } onCancel: {
            call.cancel()
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

// The ways to end a call early: cancellation and timeouts.
extension ConformanceProbe {
    /// Cancels a call after an event, and requires that the call fails with kind `.cancelled`.
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

    /// Cancels the reader of a stream after its first chunk, `abc`, and requires that the reader ends.
    ///
    /// - Parameter isReading: Whether the reader waits for the next chunk when it is canceled. Otherwise it reads again
    ///   after the cancel.
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

    /// Reads a stream whose first chunk is `abc`, and requires that the next read fails.
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
        throw CaseFailure(description: "reading did not fail as \(kind)")
    }

    /// Wraps the provider with timeouts, and requires that the call fails with a kind.
    ///
    /// Whenever a task sleeps on the clock, the clock is advanced, by up to 30 seconds.
    ///
    /// - Parameter isStreamed: Whether the call must fail after the first chunk of a stream, which is `abc`.
    func demandFailure(
        of kind: ApiConnectorError.Kind,
        limitedBy limit: (attempt: Duration?, stall: Duration?, overall: Duration?),
        inStream isStreamed: Bool = false
    ) async throws {
        let clock = ManualClock()
        var request = request(delivery: isStreamed ? .streamed : .standard)
        request.timeSource = clock
        let provider = AnyProvider(provider)
        let limited = ConformanceProbe(
            provider: provider.timeLimiting(attempt: limit.attempt, stall: limit.stall, overall: limit.overall),
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
        // The clock is advanced repeatedly, because bytes that still go into the kernel's buffers restart the stall
        // timeout.
        let mover = Task {
            if isStreamed { await mayMove.value() } else { try await log.arrival(0) }
            while true { clock.advance(by: min(try await clock.nextSleep(within: .seconds(Int64.max)), .seconds(30))) }
        }
        defer {
            mover.cancel()
            mayMove.set(())
        }
        try await follow(call) {}
    }

    /// Waits for the ends of a call and of a concurrent operation.
    ///
    /// The first failure of the two is the case's failure.
    private func follow(
        _ call: Task<Void, any Error>,
        beside happening: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await call.value }
                group.addTask { try await happening() }
                do {
                    while try await group.next() != nil {}
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

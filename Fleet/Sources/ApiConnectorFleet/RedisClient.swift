// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import NIOCore
import NIOPosix
import Synchronization

/// Connections to one Redis server, with reconnection and a time limit for each command.
final class RedisClient: Sendable {
    private struct Slot {
        let eventLoop: any EventLoop
        var connection: EventLoopFuture<RedisConnection>?
        var failureCount = 0
        /// The earliest time for a new connection.
        var retryTime = NIODeadline.uptimeNanoseconds(0)
    }

    private struct State {
        var slots: [Slot]
        var next = 0
    }

    private let server: RedisServer
    private let state: Mutex<State>

    init(_ server: RedisServer, connectionCount: Int) {
        self.server = server
        let group = MultiThreadedEventLoopGroup.singleton
        state = Mutex(State(slots: (0..<max(connectionCount, 1)).map { _ in Slot(eventLoop: group.next()) }))
    }

    deinit {
        for slot in state.withLock({ $0.slots }) { slot.connection?.whenSuccess { $0.close() } }
    }

    /// The largest number of consecutive failures of one connection.
    var failureCount: Int { state.withLock { $0.slots.map(\.failureCount).max() ?? 0 } }

    /// Sends a command, and waits for the reply.
    ///
    /// - Throws: An error of kind `.sharedStateUnavailable` if there is no reply in time, and of kind `.cancelled` if
    ///   the task is canceled. Redis may still run the command after that.
    func send(_ command: RedisCommand, within limit: Duration) async throws(ApiConnectorError) -> RedisReply {
        guard let (index, eventLoop, connection) = connection() else {
            throw .unavailable("there is no connection to Redis, and it is too early for the next attempt")
        }
        let promise = eventLoop.makePromise(of: RedisReply.self)
        let isOver = Once()
        let timer = eventLoop.scheduleTask(in: .init(limit)) { [self] in
            guard isOver.first() else { return }
            promise.fail(RedisFault("Redis did not reply within \(limit)"))
            dropIfSilent(index, connection)
        }
        connection.flatMap { $0.send(command) }.whenComplete { [self] result in
            if case .success(let reply) = result {
                // The next connection may reach a server that works.
                if reply.isRefusalOfServer {
                    drop(index, connection)
                } else {
                    state.withLock { $0.slots[index].failureCount = 0 }
                }
            }
            guard isOver.first() else { return }
            timer.cancel()
            promise.completeWith(result)
        }
        connection.whenFailure { [self] _ in drop(index, connection) }
        do {
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                if isOver.first() {
                    timer.cancel()
                    promise.fail(CancellationError())
                }
            }
        } catch is CancellationError {
            throw ApiConnectorError(.cancelled, "the operation on shared state was canceled")
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// The next connection, which is opened if necessary; nil if it is too early for a new connection after a failure.
    private func connection() -> (Int, any EventLoop, EventLoopFuture<RedisConnection>)? {
        state.withLock { state in
            let now = NIODeadline.now()
            for _ in state.slots.indices {
                let index = state.next
                state.next = (state.next + 1) % state.slots.count
                let slot = state.slots[index]
                if let connection = slot.connection { return (index, slot.eventLoop, connection) }
                guard slot.retryTime <= now else { continue }
                let connection = RedisConnection.connect(to: server, on: slot.eventLoop)
                state.slots[index].connection = connection
                watch(index, connection)
                return (index, slot.eventLoop, connection)
            }
            return nil
        }
    }

    /// The wait before the next connection after a number of consecutive failures.
    static func retryWait(after failureCount: Int) -> TimeAmount {
        min(.milliseconds(50 << Int64(min(failureCount, 6))), .seconds(2))
    }

    private func watch(_ index: Int, _ connection: EventLoopFuture<RedisConnection>) {
        connection.whenSuccess { [weak self] open in
            open.onClose { [weak self] in self?.drop(index, connection) }
        }
    }

    /// Closes a connection after the time limit of an operation, when it has been silent for a second.
    ///
    /// Before that, the connection may still be good, because the limit may be short.
    private func dropIfSilent(_ index: Int, _ connection: EventLoopFuture<RedisConnection>) {
        connection.whenSuccess { [self] open in
            if open.isSilent { return drop(index, connection) }
            // On a new connection, the command is sent a moment later.
            connection.eventLoop.scheduleTask(in: RedisConnection.longestSilence + .milliseconds(100)) { [weak self] in
                if open.isSilent { self?.drop(index, connection) }
            }
        }
    }

    /// Closes a connection.
    ///
    /// The next connection is opened after ``retryWait(after:)``.
    private func drop(_ index: Int, _ connection: EventLoopFuture<RedisConnection>) {
        let isCurrent = state.withLock { state in
            guard state.slots[index].connection === connection else { return false }
            state.slots[index].connection = nil
            state.slots[index].retryTime = .now() + Self.retryWait(after: state.slots[index].failureCount)
            state.slots[index].failureCount += 1
            return true
        }
        if isCurrent { connection.whenSuccess { $0.close() } }
    }
}

/// A flag that is true only for the first caller.
private final class Once: Sendable {
    private let isOver = Atomic(false)

    func first() -> Bool {
        isOver.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}

extension ApiConnectorError {
    static func unavailable(_ detail: String) -> ApiConnectorError {
        ApiConnectorError(.sharedStateUnavailable, detail)
    }
}

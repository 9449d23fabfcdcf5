// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Synchronization

/// Ends the waits for a loop that is stuck inside libcurl, and makes libcurl return.
///
/// A call of libcurl reads as long as bytes arrive. A server can send HTTP/2 frames that carry no data, such as
/// WINDOW_UPDATE, as fast as libcurl reads them. The call then lasts as long as the server sends, no command reaches the
/// loop, and libcurl reports no progress that could end the call. Measured: 8 seconds for a flood of 8 seconds.
///
/// The watch starts when bytes arrive, when a paused transfer goes on, when a timer of libcurl is due, when a call
/// starts, and when a time limit or a cancellation waits for the loop. It does not run on a thread of Swift's
/// concurrency, because the call may occupy it.
///
/// - Time limits wait until pending bytes are read. They stop waiting after a call has taken ``stuckNanoseconds`` of
///   processor time and has read more frames than data. The time is processor time, because a starved thread is not
///   stuck. A call that reads much data of many responses may take as long, but it ends.
/// - Each limit also stops waiting after ``longestWaitNanoseconds`` of the loop's processor time. Many calls one after
///   the other may each be short, or deliver half of what they read. Measured: limits 5 seconds late, next to 20
///   connections with DATA frames of 10 bytes.
/// - If the call goes on for ``endlessNanoseconds``, the watch shuts the socket down from which libcurl reads. libcurl
///   then reads the end of the connection. The progress callback cannot end such a call: libcurl 7.88 does not call it.
final class CurlWatchdog: Sendable {
    /// The state of the current or last call of libcurl.
    struct CallState: Equatable {
        /// Odd during the call, and even after it.
        var number: Int
        /// Whether a thread has the loop's turn.
        var isTurn: Bool
        /// The clock of the thread that has or had the turn; 0 before the first turn.
        var clock: clockid_t
        /// The processor time of this thread, in nanoseconds.
        var processorTime: Int64

        /// The processor time since an earlier state; nil if another thread had the turn then, or none has it now.
        func processorTime(since earlier: CallState) -> Int64? {
            isTurn && clock == earlier.clock ? processorTime - earlier.processorTime : nil
        }
    }

    /// A closure that waits for the loop.
    private struct Wait {
        let completion: @Sendable () -> Void
        /// The loop's state when the wait began, or when the turn first went to another thread.
        var start: CallState
    }

    /// The bytes that libcurl had read and delivered at a look.
    private struct Reading {
        var readByteCounts: [Int32: Int64]
        var deliveredByteCount: Int
    }

    /// The time between two looks at a call, in milliseconds.
    private static let tick = 20
    /// The processor time after which a call is stuck: 30 ms.
    static let stuckNanoseconds: Int64 = 30_000_000
    /// The loop's processor time for which a time limit waits at most: 60 ms.
    ///
    /// A turn of a busy loop takes a few milliseconds, and the wait takes one or two turns. If the process was suspended
    /// during hundreds of downloads, a slow processor may need longer. The calls whose bytes it has not read by then
    /// fail with their limit.
    static let longestWaitNanoseconds: Int64 = 60_000_000
    /// The processor time after which the socket of a stuck call is shut down: 250 ms.
    static let endlessNanoseconds: Int64 = 250_000_000
    /// The minimum that an endless call reads: 64 KiB.
    static let endlessByteCount: Int64 = 64 << 10

    private let isWatching = Atomic(false)

    private struct State {
        var nextNumber = 0
        var waits: [Int: Wait] = [:]
        /// The state of the call at the first look at it.
        var call: CallState?
        /// The reading at the second look at the call.
        var reading: Reading?
    }

    private let state = Locked(State())

    /// Adds a closure that ``complete(_:)`` calls, or the watch if the loop is stuck or takes long.
    ///
    /// - Returns: A number for ``complete(_:)``.
    func add(_ completion: @escaping @Sendable () -> Void, _ loop: CurlLoop) -> Int {
        let start = loop.callState
        let number = state.withLock { state in
            state.nextNumber += 1
            state.waits[state.nextNumber] = Wait(completion: completion, start: start)
            return state.nextNumber
        }
        watch(loop)
        return number
    }

    /// Calls an added closure, unless it was called before.
    func complete(_ number: Int) {
        let wait = state.withLock { $0.waits.removeValue(forKey: number) }
        wait?.completion()
    }

    /// Whether the watch runs.
    var isRunning: Bool {
        // A look clears the flag for a moment, within the lock.
        state.withLock { _ in isWatching.load(ordering: .sequentiallyConsistent) }
    }

    /// Watches the loop until no thread has the turn, the loop has taken its commands, and no closure waits.
    func watch(_ loop: CurlLoop) {
        guard !isWatching.load(ordering: .sequentiallyConsistent),
            !isWatching.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        let call = loop.callState
        state.withLock { ($0.call, $0.reading) = (call, nil) }
        lookLater(loop)
    }

    private func lookLater(_ loop: CurlLoop) {
        MonotonicTime.run(afterMilliseconds: Self.tick) { self.look(loop) }
    }

    private func look(_ loop: CurlLoop) {
        let now = loop.callState
        let isSame = state.withLock { state -> Bool? in
            let isSame = state.call.map { $0.number == now.number && now.processorTime(since: $0) != nil } == true
            // After the flag is cleared, each new wait and each new turn starts a new watch.
            isWatching.store(false, ordering: .sequentiallyConsistent)
            guard loop.isTurn || loop.queue.hasCommands || !state.waits.isEmpty,
                !isWatching.exchange(true, ordering: .acquiringAndReleasing)
            else { return nil }
            if !isSame { (state.call, state.reading) = (now, nil) }
            return isSame
        }
        guard let isSame else { return }
        endLongWaits(now)
        if isSame { judge(now, loop.openSockets) }
        lookLater(loop)
    }

    /// Ends the waits for which the loop has taken too much processor time.
    ///
    /// A wait starts again when another thread has the turn, because the clocks of two threads cannot be compared. This
    /// happens once: while a command waits, only the loop's own thread begins turns.
    private func endLongWaits(_ now: CallState) {
        guard now.isTurn else { return }
        let longWaits = state.withLock { state in
            for (number, wait) in state.waits where wait.start.clock != now.clock {
                state.waits[number]?.start = now
            }
            let longWaits = state.waits.filter {
                now.processorTime(since: $0.value.start) ?? 0 >= Self.longestWaitNanoseconds
            }
            for number in longWaits.keys { state.waits[number] = nil }
            return longWaits
        }
        Self.end(longWaits)
    }

    private static func end(_ waits: [Int: Wait]) {
        for (_, wait) in waits.sorted(by: { $0.key < $1.key }) { wait.completion() }
    }

    /// Ends the waits for a call that is stuck, and the call itself.
    private func judge(_ now: CallState, _ sockets: CurlOpenSockets) {
        let reading = Reading(
            readByteCounts: sockets.readByteCounts(),
            deliveredByteCount: sockets.deliveredByteCount
        )
        let (processorTime, before) = state.withLock { state in
            defer { state.reading = state.reading ?? reading }
            return (now.processorTime - (state.call?.processorTime ?? now.processorTime), state.reading)
        }
        guard let before else { return }
        let read = reading.readByteCounts
            .map { (socket: $0.key, byteCount: $0.value - (before.readByteCounts[$0.key] ?? $0.value)) }
            .max { $0.byteCount < $1.byteCount }
        let byteCount = read?.byteCount ?? 0
        // Of an honest response, almost all bytes are delivered.
        let deliveredByteCount = Int64(reading.deliveredByteCount - before.deliveredByteCount)
        guard processorTime >= Self.stuckNanoseconds, byteCount >= 2 * deliveredByteCount else { return }
        let waits = state.withLock { state in
            defer { state.waits = [:] }
            return state.waits
        }
        Self.end(waits)
        let isInLibcurl = !now.number.isMultiple(of: 2)
        guard let read, isInLibcurl, processorTime >= Self.endlessNanoseconds, byteCount >= Self.endlessByteCount else {
            return
        }
        sockets.shutDown(read.socket)
    }

    /// The error of a call whose connection was shut down.
    static func error(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(
            .malformedResponse,
            "the server sent frames without data without end, so the connection was closed",
            request: request
        )
    }
}

#endif

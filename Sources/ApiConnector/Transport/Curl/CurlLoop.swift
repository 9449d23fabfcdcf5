// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// Runs libcurl's multi interface with `epoll_wait`, on the loop's thread.
///
/// `curl_multi_perform` would visit every transfer in every turn: next to 900 idle streams, a small GET took 1,177 µs
/// with it, and 45 µs with `curl_multi_socket_action`.
///
/// Unchecked, because its mutable state is used by one thread at a time: the thread that has the turn.
final class CurlLoop: @unchecked Sendable {
    let queue: CurlCommandQueue
    let configuration: CurlConfiguration
    let multi: OpaquePointer
    let share: OpaquePointer
    private let poll: CurlEpoll

    /// Held by the thread that calls libcurl: the loop's thread, or a thread that starts a transfer while the loop's
    /// thread waits.
    ///
    /// It is held during calls of libcurl, which do not wait for anything. A caller that starts a transfer never waits
    /// for this lock, because a task executor may run the caller within a turn.
    private let turn = Locked(())
    /// The thread that has the turn; 0 if no thread has it.
    private let owner = Atomic<UInt>(0)
    /// Twice the number of calls of libcurl so far; odd during a call.
    private let callNumber = Atomic<Int>(0)
    /// The clock of the processor time that the owner has used; 0 before the first turn.
    private let clock = Atomic<clockid_t>(0)
    let openSockets = CurlOpenSockets()
    let watchdog: CurlWatchdog
    let turns = CurlTurns()
    let sockets: CurlSockets
    private var commands: [CurlCommandQueue.Command] = []
    /// The closures of this turn's `readPending` commands, called after ended transfers have returned their responses.
    private var completions: [@Sendable () -> Void] = []
    private var isRunning = true
    /// When libcurl wants to be called, in milliseconds; nil for never.
    private var timer: Int?
    /// When the wait in the kernel times out, on the same scale; nil for never.
    private var sleepEnd: Int?
    var transfers: CurlTransfers

    init(_ queue: CurlCommandQueue, _ configuration: CurlConfiguration) throws(ApiConnectorError) {
        self.queue = queue
        self.configuration = configuration
        watchdog = CurlWatchdog()
        transfers = CurlTransfers(configuration)
        poll = try CurlEpoll(doorbell: queue.doorbell)
        sockets = CurlSockets(descriptors: poll)
        guard let multi = curl_multi_init(), let share = curl_share_init() else {
            throw ApiConnectorError(.other, "the event loop cannot be created: libcurl is out of memory")
        }
        self.multi = multi
        self.share = share
        configure()
    }

    /// Runs until it is stopped.
    func run() {
        blockSignals()
        var events = poll.nothing
        while let timeout = turn.withLock({ _ in owning { takeTurn(events) } }) { events = poll.wait(timeout) }
        CurlExit.leave(self)
    }

    /// The state of the current or last call of libcurl; can be read on any thread.
    var callState: CurlWatchdog.CallState {
        let clock = clock.load(ordering: .relaxed)
        return CurlWatchdog.CallState(
            number: callNumber.load(ordering: .relaxed),
            isTurn: isTurn,
            clock: clock,
            processorTime: clock == 0 ? 0 : MonotonicTime.processorNanoseconds(of: clock)
        )
    }

    /// Whether a thread has the turn.
    var isTurn: Bool { owner.load(ordering: .sequentiallyConsistent) != 0 }

    /// Makes a call of libcurl, which ``callState`` shows.
    func calling<Result>(_ body: () -> Result) -> Result {
        callNumber.wrappingAdd(1, ordering: .relaxed)
        defer { callNumber.wrappingAdd(1, ordering: .relaxed) }
        return body()
    }

    /// Whether no other thread is inside libcurl; after the process starts to exit, no thread enters it.
    var isOutsideLibcurl: Bool {
        owner.load(ordering: .relaxed) == Self.thread || turn.withLockIfAvailable { _ in true } == true
    }

    private static var thread: UInt { UInt(pthread_self()) }

    private func owning<Result>(_ body: () -> Result) -> Result {
        clock.store(MonotonicTime.threadClock, ordering: .relaxed)
        owner.store(Self.thread, ordering: .sequentiallyConsistent)
        defer { owner.store(0, ordering: .relaxed) }
        return body()
    }

    /// Releases the resources if the thread could not be started.
    func discard() {
        turn.withLock { _ in shutDown() }
        CurlExit.leave(self)
    }

    /// Starts a transfer on the caller's thread, if the loop's thread waits in the kernel and calls are made one by
    /// one.
    ///
    /// This saves waking the loop's thread. With one request in flight, the throughput is 1.2 to 1.5 times as high.
    /// With 16 requests in flight, it would be a tenth lower, because each wake-up of the loop's thread then serves
    /// many requests.
    ///
    /// - Returns: False if the loop's thread should start the transfer, or has ended. The caller then posts the
    ///   transfer.
    func start(_ transfer: CurlTransfer) -> Bool {
        guard CurlRuntime.wardsOffSignals else { return false }
        let hasStarted = turn.withLockIfAvailable { _ in
            guard isRunning, transfers.isCalledOneByOne, !CurlExit.hasBegun else { return false }
            owning {
                // The caller's thread may be one of few that run time limits.
                watchdog.watch(self)
                turns.begin()
                add(transfer)
                runTimer()
                shareConnections()
                finishTransfers()
                handOver()
            }
            if turns.isAwaited || wakeTime.map({ $0 < sleepEnd ?? .max }) == true { queue.ring() }
            return true
        }
        return hasStarted ?? false
    }

    /// Leaves signals to other threads, above all SIGPIPE, which not every libcurl avoids.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}

// MARK: One turn

extension CurlLoop {
    /// Does all the work between two waits.
    ///
    /// - Returns: The maximum time of the next wait in milliseconds, -1 for no limit; nil when the loop has ended.
    private func takeTurn(_ events: CurlEpoll.Events) -> Int32? {
        guard !CurlExit.hasBegun else { return nil }
        turns.begin()
        let resumed = turns.takePaused(now: MonotonicTime.milliseconds)
        if !events.isEmpty || !resumed.isEmpty { watchdog.watch(self) }
        for transfer in resumed { resume(transfer) }
        act(on: events)
        obeyCommands()
        runTimer()
        shareConnections()
        finishTransfers()
        handOver()
        for completion in completions { completion() }
        completions.removeAll(keepingCapacity: true)
        guard isRunning else {
            shutDown()
            return nil
        }
        sleepEnd = wakeTime
        if turns.isAwaited { return 0 }
        var timeout: Int32 = -1
        if let end = sleepEnd { timeout = Int32(clamping: max(0, end - (end > 0 ? MonotonicTime.milliseconds : 0))) }
        return timeout != 0 && queue.fallAsleep() ? timeout : 0
    }

    /// When the loop has to run without an event, in milliseconds; nil for never.
    private var wakeTime: Int? {
        guard let due = turns.nextDue else { return timer }
        return min(due, timer ?? due)
    }

    private func obeyCommands() {
        queue.takeCommands(into: &commands)
        guard !commands.isEmpty else { return }
        for command in commands {
            switch command {
            case .add(let transfer): add(transfer)
            case .resume(let transfer):
                // libcurl reports a bad argument for a transfer that it has ended in this turn.
                finishTransfers()
                resume(transfer)
            case .remove(let transfer): remove(transfer)
            case .leave(let group): leave(group)
            case .readPending(let completion):
                readPending()
                completions.append(completion)
            case .stop: isRunning = false
            }
        }
        commands.removeAll(keepingCapacity: true)
    }

    private func runTimer() {
        guard let timer, timer <= 0 || timer <= MonotonicTime.milliseconds else { return }
        self.timer = nil
        watchdog.watch(self)
        act(on: Int32(CCURL_SOCKET_TIMEOUT), 0)
    }

    /// Makes libcurl read from the sockets that are readable now, up to a limited number.
    private func readPending() {
        for _ in 0..<16 {
            let events = poll.wait(0)
            act(on: events)
            guard events.count == poll.capacity else { return }
        }
    }

    private func act(on events: CurlEpoll.Events) {
        for event in events {
            let descriptor = event.data.fd
            if descriptor == queue.doorbell {
                var ignored: eventfd_t = 0
                eventfd_read(descriptor, &ignored)
                continue
            }
            act(on: descriptor, event.actions)
        }
    }

    private func act(on descriptor: Int32, _ actions: Int32) {
        var running: Int32 = 0
        turns.beginCall()
        _ = calling { curl_multi_socket_action(multi, descriptor, actions, &running) }
        sockets.uncork()
    }

    private func finishTransfers() {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == Int32(CCURLMSG_DONE), let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            if let handle = CurlHandle.of(easy) { finish(handle, code) }
        }
    }

    private func finish(_ handle: CurlHandle, _ code: Int32) {
        // The end of a connection that was shut down ends no body.
        let wasShutDown = handle.isShutDown
        if code != 0, !wasShutDown, handle.prepareAgain(after: code), addAgain(handle) { return }
        let transfer = handle.transfer
        var error = wasShutDown ? transfer.map { CurlWatchdog.error($0.request) } : handle.finish(code)
        error?.bytesSent = handle.bytesSent
        if let transfer {
            handle.recordTimes(of: transfer)
            error?.timesRecord = transfer.timesRecord
        }
        release(handle)
        transfer?.end(error)
    }

    /// Delivers the data of this turn to the waiting readers.
    private func handOver() {
        // A transfer that is resumed may be added again immediately.
        while let transfer = turns.takeDelivery() {
            if transfer.handOver() { resume(transfer) }
        }
    }

    private func resume(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle else { return }
        let wasReceivePaused = handle.flow.isReceivePaused
        let code = calling { handle.resume() }
        // Without buffered data, a bad argument means that the transfer waits for a new connection.
        if code != 0 {
            if code != 43 || wasReceivePaused { finish(handle, code) }
        } else if handle.isStuck() {
            finish(handle, 0)
        }
    }
}

// MARK: Callbacks of libcurl

extension CurlLoop {
    private func configure() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_set_pointer(multi, CCURLMOPT_SOCKETDATA, context)
        ccurl_multi_set_pointer(multi, CCURLMOPT_TIMERDATA, context)
        ccurl_multi_set_socket_callback(multi, CCURLMOPT_SOCKETFUNCTION) { _, socket, what, context, _ in
            guard let context else { return -1 }
            Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().poll.watch(socket, what)
            return 0
        }
        ccurl_multi_set_timer_callback(multi, CCURLMOPT_TIMERFUNCTION) { _, milliseconds, context in
            guard let context else { return -1 }
            Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
            return 0
        }
        ccurl_multi_set_long(multi, CCURLMOPT_PIPELINING, CCURLPIPE_MULTIPLEX)
        ccurl_multi_set_long(multi, CCURLMOPT_MAXCONNECTS, transfers.connectionCacheCount)
        // From 8.20 on, name lookups share 20 threads, so 20 lookups that hang would block all others, and the end of the
        // loop would wait for them. Earlier versions have a thread per lookup, and do not know these options.
        ccurl_multi_set_long(multi, CCURLMOPT_RESOLVE_THREADS_MAX, 1_000)
        ccurl_multi_set_long(multi, CCURLMOPT_QUICK_EXIT, 1)
        if let count = configuration.maximumConnectionCount {
            ccurl_multi_set_long(multi, CCURLMOPT_MAX_TOTAL_CONNECTIONS, count)
        }
        if let count = configuration.maximumConnectionCountPerHost {
            ccurl_multi_set_long(multi, CCURLMOPT_MAX_HOST_CONNECTIONS, count)
        }
        ccurl_share_set(share, CCURLSHOPT_SHARE, CCURL_LOCK_DATA_SSL_SESSION)
        if configuration.cookies == .inMemory {
            ccurl_share_set(share, CCURLSHOPT_SHARE, CCURL_LOCK_DATA_COOKIE)
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : MonotonicTime.milliseconds + milliseconds
    }
}

#endif

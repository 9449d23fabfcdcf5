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
    let mailbox: CurlMailbox
    let configuration: CurlConfiguration
    let multi: OpaquePointer
    let share: OpaquePointer
    private let poll: CurlPoll

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
    let rescue: CurlRescue
    let deliveries = CurlDeliveries()
    let turns = CurlTurns()
    let sockets: CurlSockets
    private var commands: [CurlMailbox.Command] = []
    /// The closures of this turn's `readPending` commands, called after ended transfers have returned their responses.
    private var completions: [@Sendable () -> Void] = []
    private var isRunning = true
    /// When libcurl wants to be called, in milliseconds; nil for never.
    private var timer: Int?
    /// When the wait in the kernel times out, on the same scale; nil for never.
    private var sleepEnd: Int?
    var active: Set<CurlHandle> = []
    /// The number of active transfers that are not streams; streams may stay open for a long time.
    var collectingCount = 0
    /// Whether ``collectingCount`` was 0 when the last transfer that is not a stream started.
    ///
    /// If so, calls are probably made one after the other.
    var comeAlone = true
    var connectionCacheCount = 64
    var line: CurlWaitingLine<CurlTransfer>
    /// The number of canceled transfers that may still be in the line.
    var canceledCount = 0
    var isStartingWaiting = false

    init(_ mailbox: CurlMailbox, _ configuration: CurlConfiguration) throws(ApiConnectorError) {
        self.mailbox = mailbox
        self.configuration = configuration
        rescue = CurlRescue()
        line = CurlWaitingLine(
            maximumConnectionCount: configuration.maximumConnectionCount,
            maximumConnectionCountPerHost: configuration.maximumConnectionCountPerHost
        )
        poll = try CurlPoll(doorbell: mailbox.doorbell)
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
    var callState: CurlRescue.CallState {
        let clock = clock.load(ordering: .relaxed)
        return CurlRescue.CallState(
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
            guard isRunning, comeAlone, collectingCount == 0, !CurlExit.hasBegun else { return false }
            owning {
                // The caller's thread may be one of few that run time limits.
                rescue.watch(self)
                turns.begin()
                add(transfer)
                runTimer()
                shareConnections()
                finishTransfers()
                handOver()
            }
            if turns.isAwaited || wakeTime.map({ $0 < sleepEnd ?? .max }) == true { mailbox.ring() }
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
    private func takeTurn(_ events: CurlPoll.Events) -> Int32? {
        guard !CurlExit.hasBegun else { return nil }
        turns.begin()
        let resumed = turns.takePaused(now: MonotonicTime.milliseconds)
        if !events.isEmpty || !resumed.isEmpty { rescue.watch(self) }
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
        return timeout != 0 && mailbox.fallAsleep() ? timeout : 0
    }

    /// When the loop has to run without an event, in milliseconds; nil for never.
    private var wakeTime: Int? {
        guard let due = turns.nextDue else { return timer }
        return min(due, timer ?? due)
    }

    private func obeyCommands() {
        mailbox.takeCommands(into: &commands)
        guard !commands.isEmpty else { return }
        for command in commands {
            switch command {
            case .add(let transfer): add(transfer)
            case .resume(let transfer):
                // libcurl reports a bad argument for a transfer that it has ended in this turn.
                finishTransfers()
                resume(transfer)
            case .remove(let transfer): remove(transfer)
            case .leave(let lane): leave(lane)
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
        rescue.watch(self)
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

    private func act(on events: CurlPoll.Events) {
        for event in events {
            let descriptor = event.data.fd
            if descriptor == mailbox.doorbell {
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
        let isRescued = handle.isShutDown
        if code != 0, !isRescued, handle.prepareAgain(after: code), addAgain(handle) { return }
        let transfer = handle.transfer
        var error = isRescued ? transfer.map { CurlRescue.error($0.request) } : handle.finish(code)
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
        while let transfer = deliveries.takeLast() {
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
        ccurl_multi_set_long(multi, CCURLMOPT_MAXCONNECTS, connectionCacheCount)
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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// The queue of commands to the loop's thread, which it also starts.
final class CurlCommandQueue: Sendable {
    enum Command {
        case add(CurlTransfer)
        /// Resumes a paused transfer.
        case resume(CurlTransfer)
        case remove(CurlTransfer)
        /// Frees the place of an ended transfer whose file is closed.
        case leave(CurlWaitingQueue<CurlTransfer>.Group)
        /// Reads pending data on all connections, delivers it, and then calls the closure.
        case readPending(@Sendable () -> Void)
        /// Ends the thread and all transfers.
        case stop
    }

    private struct State {
        var commands: [Command] = []
        /// Whether the thread sleeps, or is about to, and has to be woken.
        var isAsleep = false
        var isStopped = false
        /// The loop; nil after the thread has ended.
        var loop: CurlLoop?
    }

    private let state = Locked(State())
    /// An eventfd; readable when the thread should read its commands.
    let doorbell: Int32

    /// Starts a thread.
    ///
    /// - Parameter startThread: Starts a thread with a name and a stack size in bytes; returns 0 or the error code.
    init(
        _ configuration: CurlConfiguration,
        startThread: (String, Int, @escaping @Sendable () -> Void) -> Int32 = POSIXThread.start
    ) throws(ApiConnectorError) {
        if let flaw = CurlRuntime.flaw ?? CurlRuntime.flaw(of: configuration.httpVersion) {
            throw ApiConnectorError(.invalidRequest, flaw).advising("")
        }
        var configuration = configuration
        configuration.httpVersion = configuration.httpVersion.supported(hasHTTP2: CurlRuntime.hasHTTP2)
        doorbell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard doorbell >= 0 else { throw Self.outOfDescriptors("eventfd") }
        let loop = try CurlLoop(self, configuration)
        guard CurlExit.enter(loop) else { throw CurlExit.refusal(nil) }
        state.withLock { $0.loop = loop }
        let code = startThread("CurlProvider", 512 * 1024) { loop.run() }
        guard code == 0 else {
            loop.discard()
            throw Self.unavailable("pthread_create", code)
        }
    }

    deinit {
        if doorbell >= 0 { close(doorbell) }
    }

    /// Starts a transfer: on the caller's thread if the loop's thread sleeps and ``CurlLoop/start(_:)`` allows it,
    /// otherwise in the next turn of the loop's thread.
    func start(_ transfer: CurlTransfer) {
        // The loop's thread would no longer start it.
        guard !CurlExit.hasBegun else { return transfer.abandon(CurlExit.refusal(transfer.request)) }
        let loop = state.withLock { $0.isAsleep ? $0.loop : nil }
        if loop?.start(transfer) != true { post(.add(transfer)) }
    }

    func post(_ command: Command) {
        let (isStopped, isAsleep, watched) = state.withLock { state in
            guard !state.isStopped else { return (true, false, nil as CurlLoop?) }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return (false, state.isAsleep, command.mustBeTaken ? state.loop : nil)
        }
        if isAsleep { ring() }
        if let watched { watched.watchdog.watch(watched) }
        if isStopped { command.refuse() }
    }

    /// The loop; nil after its thread has ended.
    var loop: CurlLoop? { state.withLock { $0.loop } }

    /// Whether the loop has not yet taken all commands.
    var hasCommands: Bool { state.withLock { !$0.commands.isEmpty } }

    /// Makes the loop read pending data, and then calls a closure, on the loop's thread or, if the loop is stuck in a
    /// call of libcurl, on another thread.
    func readPending(then completion: @escaping @Sendable () -> Void) {
        guard let loop else { return completion() }
        let number = loop.watchdog.add(completion, loop)
        post(.readPending { loop.watchdog.complete(number) })
    }

    /// Wakes the thread.
    func ring() {
        _ = eventfd_write(doorbell, 1)
    }

    /// Takes the commands posted since the last call; called by the loop's thread.
    func takeCommands(into commands: inout [Command]) {
        state.withLock { state in
            state.isAsleep = false
            swap(&state.commands, &commands)
        }
    }

    /// Whether the thread may sleep because there are no commands.
    ///
    /// From then on, each posted command wakes it.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    /// Stops accepting commands.
    func refuseCommands() -> [Command] {
        state.withLock { state in
            state.isStopped = true
            state.loop = nil
            defer { state.commands = [] }
            return state.commands
        }
    }

    static func stopped(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(
            .cancelled,
            "the provider was released during the request; keep a reference to it until the body is read",
            request: request
        )
    }

    static func outOfDescriptors(_ call: String) -> ApiConnectorError { unavailable(call, errno) }

    /// The error of a failed system call without which the loop cannot run.
    private static func unavailable(_ call: String, _ code: Int32) -> ApiConnectorError {
        ApiConnectorError(.other, "the event loop cannot be created: \(reason(call, code))")
    }

    /// Why a system call failed.
    static func reason(_ call: String, _ code: Int32) -> String {
        let names = [
            EMFILE: " (EMFILE, the process's limit)", ENFILE: " (ENFILE, the system's limit)", EAGAIN: " (EAGAIN)",
        ]
        return "\(call) failed with \"\(String(cString: strerror(code)))\"\(names[code] ?? "")"
    }
}

extension CurlCommandQueue.Command {
    /// Whether a call waits until the loop takes the command, so that another call's server must not delay it.
    var mustBeTaken: Bool {
        switch self {
        case .add, .remove, .leave: true
        case .resume, .readPending, .stop: false
        }
    }

    /// Handles a command that is posted after the thread has ended.
    func refuse() {
        switch self {
        case .add(let transfer): transfer.abandon(CurlCommandQueue.stopped(transfer.request))
        case .readPending(let completion): completion()
        case .resume, .remove, .leave, .stop: break
        }
    }
}

/// Keeps all threads out of libcurl when the process exits.
///
/// `exit()` runs OpenSSL's exit handler while other threads are still running. A loop that closes a connection
/// meanwhile takes freed locks, and the process crashes with SIGSEGV and loses its buffered output. Exit handlers run
/// in the reverse order of their registration. This handler is registered after libcurl and OpenSSL have started, so it
/// runs before OpenSSL's. It waits until no thread is inside libcurl, and no thread enters libcurl afterwards.
///
/// Calls in flight at that time never end; new calls fail.
enum CurlExit {
    /// The maximum time that an exit waits for a thread inside libcurl: 5 seconds.
    ///
    /// A thread inside libcurl is in a turn of its loop, which normally takes milliseconds. But a turn can run the
    /// caller's code, and this code may be waiting for the exiting thread. Without the maximum, both threads would then
    /// wait forever.
    private static let patience = 5000

    private static let flag = Atomic(false)

    /// The loops whose threads may call libcurl.
    ///
    /// A loop is not removed after the flag is set, because shutting it down also calls libcurl.
    private static let loops = Locked<[ObjectIdentifier: CurlLoop]>([:])

    /// The process in which the handler was registered.
    ///
    /// A child process made by `fork` has the handler but not the threads.
    private static let processID: pid_t = {
        atexit { CurlExit.keepOut() }
        return getpid()
    }()

    /// Whether the process is exiting.
    static var hasBegun: Bool { flag.load(ordering: .acquiring) }

    /// Registers a loop, so that an exit of the process waits for the end of the loop's current turn.
    ///
    /// - Returns: False if the process is already exiting; libcurl must then not be called.
    static func enter(_ loop: CurlLoop) -> Bool {
        _ = processID
        return loops.withLock { loops in
            guard !hasBegun else { return false }
            loops[ObjectIdentifier(loop)] = loop
            return true
        }
    }

    /// Removes a loop, so that an exit of the process no longer waits for its turns.
    ///
    /// If the process is exiting, the loop's thread stops here forever.
    static func leave(_ loop: CurlLoop) {
        let hasLeft = loops.withLock { loops in
            guard !hasBegun else { return false }
            loops[ObjectIdentifier(loop)] = nil
            return true
        }
        // The thread must not end, because OpenSSL would then release the thread's data.
        while !hasLeft { pause() }
    }

    /// Waits until no thread is inside libcurl; runs on the exiting thread.
    private static func keepOut() {
        guard getpid() == processID else { return }
        flag.store(true, ordering: .releasing)
        let end = MonotonicTime.milliseconds + patience
        var remaining: [CurlLoop]?
        while remaining == nil, MonotonicTime.milliseconds < end {
            // Does not block, because a signal handler may exit on a thread that holds this lock.
            remaining = loops.withLockIfAvailable { Array($0.values) }
            if remaining == nil { MonotonicTime.waitBriefly() }
        }
        for loop in remaining ?? [] {
            while !loop.isOutsideLibcurl, MonotonicTime.milliseconds < end { MonotonicTime.waitBriefly() }
        }
    }

    static func refusal(_ request: ApiRequest?) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the process is exiting, so the request is not sent", request: request)
    }
}

/// Starts threads with `pthread_create`, which reports a failure.
///
/// Foundation's `Thread` does not report a failure, and then never runs.
enum POSIXThread {
    /// Starts a thread.
    ///
    /// - Returns: 0 or the error code.
    static func start(named name: String, stackByteCount: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
            guard let attributes = buffer.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, stackByteCount)
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            var thread: pthread_t = 0
            return pthread_create(&thread, attributes, Self.run, work.toOpaque())
        }
        if code != 0 { work.release() }
        return code
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        pthread_setname_np(pthread_self(), work.name)
        work.body()
        return nil
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

#endif

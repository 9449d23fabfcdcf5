// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The queue of commands to the loop's thread, which it also starts.
final class CurlMailbox: Sendable {
    enum Command {
        case add(CurlTransfer)
        /// Resumes a paused transfer.
        case resume(CurlTransfer)
        case remove(CurlTransfer)
        /// Frees the place of an ended transfer whose file is closed.
        case leave(CurlWaitingLine<CurlTransfer>.Lane)
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
        if let watched { watched.rescue.watch(watched) }
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
        let number = loop.rescue.add(completion, loop)
        post(.readPending { loop.rescue.complete(number) })
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

extension CurlMailbox.Command {
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
        case .add(let transfer): transfer.abandon(CurlMailbox.stopped(transfer.request))
        case .readPending(let completion): completion()
        case .resume, .remove, .leave, .stop: break
        }
    }
}

#endif

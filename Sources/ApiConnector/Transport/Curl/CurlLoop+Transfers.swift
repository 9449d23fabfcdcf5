// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// The calls that wait for a connection, in order; this type does not call libcurl itself.
///
/// A waiting call has no easy handle, which takes 45 KB. libcurl itself counts the connections. One call may run per
/// connection. If a server has responded over HTTP/2, 100 may run, which is libcurl's maximum per connection.
struct CurlWaitingQueue<Call> {
    /// A group of calls that count for the same limits.
    struct Group: Hashable {
        /// Whether HTTP/2 may carry many such calls on one connection.
        var mayMultiplex: Bool
        /// The host and port; empty if there is no limit per host.
        var host = ""
    }

    /// The maximum number of calls that libcurl sends on one HTTP/2 connection.
    static var multiplexedCount: Int { 100 }

    private let maximumConnectionCount: Int?
    private let maximumConnectionCountPerHost: Int?
    private var runningCounts: [Group: Int] = [:]
    /// The running calls, by whether they may multiplex.
    private var totals = [false: 0, true: 0]
    private var waiting: [Group: Queue] = [:]
    /// The groups whose calls share connections.
    private var shared: Set<Group> = []
    private var nextNumber = 0
    private(set) var waitingCount = 0

    private struct Queue {
        var calls: [(number: Int, call: Call)?] = []
        var start = 0

        var first: (number: Int, call: Call)? { start < calls.count ? calls[start] : nil }

        mutating func removeFirst() {
            calls[start] = nil
            start += 1
            guard start * 2 > calls.count else { return }
            calls.removeFirst(start)
            start = 0
        }
    }

    init(maximumConnectionCount: Int?, maximumConnectionCountPerHost: Int?) {
        self.maximumConnectionCount = maximumConnectionCount
        self.maximumConnectionCountPerHost = maximumConnectionCountPerHost
    }

    /// Whether there is any limit.
    var isLimited: Bool { maximumConnectionCount != nil || maximumConnectionCountPerHost != nil }

    /// Whether there is a limit per host.
    var countsHosts: Bool { maximumConnectionCountPerHost != nil }

    /// Adds a call.
    ///
    /// - Returns: Whether the call may start; otherwise it waits.
    mutating func enter(_ call: Call, _ group: Group) -> Bool {
        guard waiting[group] != nil || !hasRoom(group) else {
            start(group)
            return true
        }
        waiting[group, default: Queue()].calls.append((nextNumber, call))
        nextNumber += 1
        waitingCount += 1
        return false
    }

    /// Records that a server has responded over HTTP/2, so that more calls of the group may run.
    ///
    /// Without a limit per host, all hosts share a group.
    ///
    /// - Returns: Whether this is new.
    mutating func share(_ group: Group) -> Bool {
        group.mayMultiplex && shared.insert(group).inserted
    }

    /// Records that a started call has ended.
    mutating func leave(_ group: Group) {
        totals[group.mayMultiplex, default: 0] -= 1
        let count = (runningCounts[group] ?? 0) - 1
        runningCounts[group] = count > 0 ? count : nil
    }

    /// The call that has waited longest and that may run; it counts as started.
    mutating func next() -> (call: Call, group: Group)? {
        guard waitingCount > 0 else { return nil }
        var oldest: (number: Int, call: Call, group: Group)?
        for (group, queue) in waiting where hasRoom(group) {
            guard let first = queue.first, first.number < oldest?.number ?? .max else { continue }
            oldest = (first.number, first.call, group)
        }
        guard let oldest else { return nil }
        waiting[oldest.group]?.removeFirst()
        if waiting[oldest.group]?.first == nil { waiting[oldest.group] = nil }
        waitingCount -= 1
        start(oldest.group)
        return (oldest.call, oldest.group)
    }

    /// Removes the calls that satisfy a predicate.
    mutating func removeAll(where isToBeRemoved: (Call) -> Bool) -> [Call] {
        var removed: [Call] = []
        for (group, queue) in waiting {
            var kept = Queue()
            for entry in queue.calls[queue.start...].compactMap({ $0 }) {
                if isToBeRemoved(entry.call) { removed.append(entry.call) } else { kept.calls.append(entry) }
            }
            waiting[group] = kept.calls.isEmpty ? nil : kept
        }
        waitingCount -= removed.count
        return removed
    }

    private mutating func start(_ group: Group) {
        totals[group.mayMultiplex, default: 0] += 1
        runningCounts[group, default: 0] += 1
    }

    private func hasRoom(_ group: Group) -> Bool {
        let factor = shared.contains(group) ? Self.multiplexedCount : 1
        if let limit = maximumConnectionCount, (totals[group.mayMultiplex] ?? 0) >= product(limit, factor) {
            return false
        }
        if let limit = maximumConnectionCountPerHost, (runningCounts[group] ?? 0) >= product(limit, factor) {
            return false
        }
        return true
    }

    /// For libcurl, a limit of 0 or less means no limit.
    private func product(_ limit: Int, _ factor: Int) -> Int {
        guard limit > 0 else { return .max }
        let (product, hasOverflown) = limit.multipliedReportingOverflow(by: factor)
        return hasOverflown ? .max : product
    }
}

#if Curl && os(Linux)
/// The transfers of a loop: those that were added to libcurl, and those that wait for a connection.
struct CurlTransfers {
    fileprivate var active: Set<CurlHandle> = []
    fileprivate var waiting: CurlWaitingQueue<CurlTransfer>
    /// The number of active transfers that are not streams; streams may stay open for a long time.
    fileprivate var collectingCount = 0
    /// Whether ``collectingCount`` was 0 when the last transfer that is not a stream started.
    ///
    /// If so, calls are probably made one after the other.
    fileprivate var comeAlone = true
    /// The number of idle connections that libcurl keeps.
    fileprivate(set) var connectionCacheCount = 64
    /// The number of canceled transfers that may still wait.
    fileprivate var canceledCount = 0
    fileprivate var isStartingWaiting = false

    init(_ configuration: CurlConfiguration) {
        waiting = CurlWaitingQueue(
            maximumConnectionCount: configuration.maximumConnectionCount,
            maximumConnectionCountPerHost: configuration.maximumConnectionCountPerHost
        )
    }

    /// The number of transfers that wait for a connection.
    var waitingCount: Int { waiting.waitingCount }

    /// Whether only streams are active, and calls are probably made one after the other.
    var isCalledOneByOne: Bool { comeAlone && collectingCount == 0 }
}

// MARK: Transfers that were added to libcurl

extension CurlLoop {
    func add(_ transfer: CurlTransfer) {
        guard !transfer.isOver, admit(transfer) else { return }
        begin(transfer)
    }

    /// Starts a transfer that is within the limits.
    private func begin(_ transfer: CurlTransfer) {
        guard let handle = CurlHandle(of: self) else {
            transfer.end(ApiConnectorError(.other, "libcurl is out of memory", request: transfer.request))
            leaveQueue(transfer)
            return
        }
        handle.prepare(transfer)
        transfer.upload?.admit()
        transfers.active.insert(handle)
        if transfer.request.delivery != .streamed {
            transfers.comeAlone = transfers.collectingCount == 0
            transfers.collectingCount += 1
        }
        growConnectionCache()
        let code = calling { curl_multi_add_handle(multi, handle.easy.pointer) }
        if code != 0 {
            release(handle)
            transfer.end(
                ApiConnectorError(.other, "libcurl accepts no transfer (code \(code))", request: transfer.request)
            )
        }
    }

    /// Makes libcurl send a transfer again, on a connection that the handle's options allow.
    func addAgain(_ handle: CurlHandle) -> Bool {
        curl_multi_remove_handle(multi, handle.easy.pointer)
        return curl_multi_add_handle(multi, handle.easy.pointer) == 0
    }

    func remove(_ transfer: CurlTransfer) {
        guard let handle = transfer.handle else { return forgetWaiting() }
        // Before 7.87, removing a handle waits for the resolver, so such a handle stays until the lookup ends, and then
        // fails.
        guard CurlRuntime.hasQuickExit || !handle.connecting.isResolving else { return }
        release(handle)
    }

    func release(_ handle: CurlHandle) {
        _ = calling { curl_multi_remove_handle(multi, handle.easy.pointer) }
        transfers.active.remove(handle)
        guard let transfer = handle.releaseTransfer() else { return }
        if transfer.request.delivery != .streamed { transfers.collectingCount -= 1 }
        leaveQueue(transfer)
    }

    /// Raises the limit on idle connections to at least twice the number of active transfers.
    ///
    /// By default, libcurl closes idle connections when the number of transfers falls, and a second burst would have to
    /// connect again.
    private func growConnectionCache() {
        guard transfers.active.count * 2 > transfers.connectionCacheCount else { return }
        transfers.connectionCacheCount = transfers.active.count * 4
        ccurl_multi_set_long(multi, CCURLMOPT_MAXCONNECTS, transfers.connectionCacheCount)
    }

    func shutDown() {
        var orphans = Array(transfers.active).compactMap(\.transfer) + transfers.waiting.removeAll { _ in true }
        var refused: [CurlCommandQueue.Command] = []
        for command in queue.refuseCommands() {
            if case .add(let transfer) = command { orphans.append(transfer) } else { refused.append(command) }
        }
        // The calls end first, because before 7.87 releasing a handle waits for its resolver.
        for transfer in orphans { transfer.abandon(CurlCommandQueue.stopped(transfer.request)) }
        for command in refused { command.refuse() }
        for handle in transfers.active { release(handle) }
        ccurl_multi_set_socket_callback(multi, CCURLMOPT_SOCKETFUNCTION, nil)
        ccurl_multi_set_timer_callback(multi, CCURLMOPT_TIMERFUNCTION, nil)
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
        // Frees OpenSSL's data for this thread now, because an exit of the process waits for this turn, but not for
        // the end of the thread.
        CurlOpenSSL.endThread?()
    }
}

// MARK: Transfers that wait for a connection, without an easy handle

extension CurlLoop {
    /// Whether a transfer may start now; otherwise it waits.
    private func admit(_ transfer: CurlTransfer) -> Bool {
        guard transfers.waiting.isLimited else { return true }
        transfer.fileHoldNumber = transfer.request.values.fileHold?.renew()
        let group = group(of: transfer)
        guard transfers.waiting.enter(transfer, group) else { return false }
        transfer.group = group
        return true
    }

    /// Records that a started transfer has ended, and starts waiting transfers.
    ///
    /// A transfer whose body is still being written to a file keeps its place until the file is closed.
    private func leaveQueue(_ transfer: CurlTransfer) {
        guard let group = transfer.group else { return }
        transfer.group = nil
        if !transfer.isOver, let hold = transfer.fileHold, let number = transfer.fileHoldNumber,
            hold.keepPlace(of: number, until: { [queue] in queue.post(.leave(group)) })
        {
            return
        }
        leave(group)
    }

    /// Frees a place, and starts waiting transfers.
    func leave(_ group: CurlWaitingQueue<CurlTransfer>.Group) {
        transfers.waiting.leave(group)
        startWaiting()
    }

    /// Starts waiting calls that may run now because a server has responded over HTTP/2.
    func shareConnections() {
        for group in turns.takeSharedGroups() where transfers.waiting.share(group) { startWaiting() }
    }

    private func startWaiting() {
        // A transfer that cannot be started ends immediately, which calls this function again.
        guard !transfers.isStartingWaiting else { return }
        transfers.isStartingWaiting = true
        defer { transfers.isStartingWaiting = false }
        while let (transfer, group) = transfers.waiting.next() {
            guard !transfer.isOver else {
                transfers.waiting.leave(group)
                continue
            }
            transfer.group = group
            begin(transfer)
        }
    }

    /// Records that a transfer that may be waiting was canceled.
    ///
    /// Ended transfers are removed when they are the majority, so that each removal costs little and few are kept.
    private func forgetWaiting() {
        transfers.canceledCount += 1
        guard transfers.canceledCount * 2 > transfers.waiting.waitingCount else { return }
        transfers.canceledCount = 0
        _ = transfers.waiting.removeAll(where: \.isOver)
    }

    private func group(of transfer: CurlTransfer) -> CurlWaitingQueue<CurlTransfer>.Group {
        let isStreamed = transfer.request.delivery == .streamed && !configuration.streamsOverHTTP2
        let mayMultiplex = configuration.httpVersion.mayMultiplex(isSecure: transfer.requestHead.isSecure)
        let isSequential = isStreamed && configuration.httpVersion == .automatic
        let url = transfer.request.url
        let host = transfers.waiting.countsHosts ? "\(url.host() ?? ""):\(url.port ?? 0)" : ""
        let group = CurlWaitingQueue<CurlTransfer>.Group(mayMultiplex: mayMultiplex && !isSequential, host: host)
        if configuration.httpVersion == .http2PriorKnowledge { _ = transfers.waiting.share(group) }
        return group
    }
}
#endif

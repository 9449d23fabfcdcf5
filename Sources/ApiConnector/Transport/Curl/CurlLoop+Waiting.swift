// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

// Calls that wait for a connection, without an easy handle.

extension CurlLoop {
    /// Whether a transfer may start now; otherwise it waits.
    func admit(_ transfer: CurlTransfer) -> Bool {
        guard line.isLimited else { return true }
        transfer.fileHoldNumber = transfer.request.values.fileHold?.renew()
        let lane = lane(of: transfer)
        guard line.enter(transfer, lane) else { return false }
        transfer.lane = lane
        return true
    }

    /// Records that a started transfer has ended, and starts waiting transfers.
    ///
    /// A transfer whose body is still being written to a file keeps its place until the file is closed.
    func leaveLine(_ transfer: CurlTransfer) {
        guard let lane = transfer.lane else { return }
        transfer.lane = nil
        if !transfer.isOver, let hold = transfer.fileHold, let number = transfer.fileHoldNumber,
            hold.keepPlace(of: number, until: { [mailbox] in mailbox.post(.leave(lane)) })
        {
            return
        }
        leave(lane)
    }

    /// Frees a place, and starts waiting transfers.
    func leave(_ lane: CurlWaitingLine<CurlTransfer>.Lane) {
        line.leave(lane)
        startWaiting()
    }

    /// Starts waiting calls that may run now because a server has responded over HTTP/2.
    func shareConnections() {
        for lane in turns.takeSharedLanes() where line.share(lane) { startWaiting() }
    }

    private func startWaiting() {
        // A transfer that cannot be started ends immediately, which calls this function again.
        guard !isStartingWaiting else { return }
        isStartingWaiting = true
        defer { isStartingWaiting = false }
        while let (transfer, lane) = line.next() {
            guard !transfer.isOver else {
                line.leave(lane)
                continue
            }
            transfer.lane = lane
            begin(transfer)
        }
    }

    /// Records that a transfer that may be waiting was canceled.
    ///
    /// Ended transfers are removed when they are the majority, so that each removal costs little and few are kept.
    func forgetWaiting() {
        canceledCount += 1
        guard canceledCount * 2 > line.waitingCount else { return }
        canceledCount = 0
        _ = line.removeAll(where: \.isOver)
    }

    private func lane(of transfer: CurlTransfer) -> CurlWaitingLine<CurlTransfer>.Lane {
        let isStreamed = transfer.request.delivery == .streamed && !configuration.streamsOverHTTP2
        let mayMultiplex = configuration.httpVersion.mayMultiplex(isSecure: transfer.block.isSecure)
        let isSequential = isStreamed && configuration.httpVersion == .automatic
        let url = transfer.request.url
        let host = line.countsHosts ? "\(url.host() ?? ""):\(url.port ?? 0)" : ""
        let lane = CurlWaitingLine<CurlTransfer>.Lane(mayMultiplex: mayMultiplex && !isSequential, host: host)
        if configuration.httpVersion == .http2PriorKnowledge { _ = line.share(lane) }
        return lane
    }
}

#endif

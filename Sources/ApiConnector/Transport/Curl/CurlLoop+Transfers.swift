// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

// The transfers that were added to libcurl.

extension CurlLoop {
    func add(_ transfer: CurlTransfer) {
        guard !transfer.isOver, admit(transfer) else { return }
        begin(transfer)
    }

    private func makeHandle() -> CurlHandle? {
        CurlHandle(
            configuration,
            share: share,
            deliveries: deliveries,
            turns: turns,
            sockets: sockets,
            openSockets: openSockets
        )
    }

    /// Starts a transfer that is within the limits.
    func begin(_ transfer: CurlTransfer) {
        guard let handle = makeHandle() else {
            transfer.end(ApiConnectorError(.other, "libcurl is out of memory", request: transfer.request))
            leaveLine(transfer)
            return
        }
        handle.prepare(transfer)
        transfer.upload?.admit()
        active.insert(handle)
        if transfer.request.delivery != .streamed {
            comeAlone = collectingCount == 0
            collectingCount += 1
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
        active.remove(handle)
        guard let transfer = handle.releaseTransfer() else { return }
        if transfer.request.delivery != .streamed { collectingCount -= 1 }
        leaveLine(transfer)
    }

    /// Raises the limit on idle connections to at least twice the number of active transfers.
    ///
    /// By default, libcurl closes idle connections when the number of transfers falls, and a second burst would have to
    /// connect again.
    private func growConnectionCache() {
        guard active.count * 2 > connectionCacheCount else { return }
        connectionCacheCount = active.count * 4
        ccurl_multi_set_long(multi, CCURLMOPT_MAXCONNECTS, connectionCacheCount)
    }

    func shutDown() {
        var orphans = Array(active).compactMap(\.transfer) + line.removeAll { _ in true }
        var refused: [CurlMailbox.Command] = []
        for command in mailbox.refuseCommands() {
            if case .add(let transfer) = command { orphans.append(transfer) } else { refused.append(command) }
        }
        // The calls end first, because before 7.87 releasing a handle waits for its resolver.
        for transfer in orphans { transfer.abandon(CurlMailbox.stopped(transfer.request)) }
        for command in refused { command.refuse() }
        for handle in active { release(handle) }
        ccurl_multi_set_socket_callback(multi, CCURLMOPT_SOCKETFUNCTION, nil)
        ccurl_multi_set_timer_callback(multi, CCURLMOPT_TIMERFUNCTION, nil)
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
        // Frees OpenSSL's data for this thread now, because an exit of the process waits for this turn, but not for
        // the end of the thread.
        CurlOpenSSL.endThread?()
    }
}

#endif

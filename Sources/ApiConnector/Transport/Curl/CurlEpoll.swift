// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The descriptors for which the loop's thread waits in the kernel.
///
/// Unchecked, because its mutable state is used by one thread at a time: the thread that has the loop's turn. The
/// buffer for events belongs to the loop.
final class CurlEpoll: @unchecked Sendable {
    typealias Events = Slice<UnsafeMutableBufferPointer<epoll_event>>

    private let epoll: Int32
    private let buffer = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 64)
    private var watches: [Watch] = []

    /// The events of one descriptor that the kernel reports.
    private struct Watch {
        /// The events that libcurl requests.
        var what = Int32(CCURL_POLL_REMOVE)
        /// Whether libcurl's request to read is not followed.
        var isPaused = false
        /// Whether the kernel watches the descriptor, so that its events are changed rather than added.
        var isActive = false

        var events: UInt32 {
            guard what != Int32(CCURL_POLL_REMOVE) else { return 0 }
            var events: UInt32 = 0
            if what & Int32(CCURL_POLL_IN) != 0, !isPaused { events |= EPOLLIN.rawValue }
            if what & Int32(CCURL_POLL_OUT) != 0 { events |= EPOLLOUT.rawValue }
            return events
        }
    }

    /// - Parameter doorbell: A descriptor that wakes the loop, in addition to libcurl's sockets.
    init(doorbell: Int32) throws(ApiConnectorError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw CurlCommandQueue.outOfDescriptors("epoll_create1") }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: doorbell))
        epoll_ctl(epoll, EPOLL_CTL_ADD, doorbell, &event)
    }

    deinit {
        if epoll >= 0 { close(epoll) }
        buffer.deallocate()
    }

    /// The maximum number of events that one wait returns.
    var capacity: Int { buffer.count }

    /// No events, for the time before the first wait.
    var nothing: Events { buffer[..<0] }

    /// Waits for events for at most `timeout` milliseconds; -1 means no limit.
    func wait(_ timeout: Int32) -> Events {
        buffer[..<max(0, Int(epoll_wait(epoll, buffer.baseAddress, Int32(buffer.count), timeout)))]
    }

    /// Watches a socket for the events that libcurl requests.
    func watch(_ socket: Int32, _ what: Int32) {
        let index = Int(socket)
        if index >= watches.count {
            watches.append(contentsOf: repeatElement(Watch(), count: index + 64 - watches.count))
        }
        watches[index].what = what
        if what == Int32(CCURL_POLL_REMOVE) { watches[index].isPaused = false }
        update(socket)
    }

    /// Stops to report that a watched socket is readable, or starts again.
    func pauseReading(_ socket: Int32, _ isPaused: Bool) {
        let index = Int(socket)
        guard watches.indices.contains(index), watches[index].what != Int32(CCURL_POLL_REMOVE),
            watches[index].isPaused != isPaused
        else { return }
        watches[index].isPaused = isPaused
        update(socket)
    }

    private func update(_ socket: Int32) {
        let watch = watches[Int(socket)]
        var event = epoll_event(events: watch.events, data: epoll_data_t(fd: socket))
        // The kernel also reports the end of a connection that it watches for no events.
        let isActive = event.events != 0 || (watch.what != Int32(CCURL_POLL_REMOVE) && !watch.isPaused)
        watches[Int(socket)].isActive = isActive
        guard isActive else {
            if watch.isActive { epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event) }
            return
        }
        if epoll_ctl(epoll, watch.isActive ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0 {
            // The descriptor was closed and reused unnoticed.
            epoll_ctl(epoll, watch.isActive ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
        }
        // libcurl creates the socket pairs of its resolver threads without FD_CLOEXEC.
        if !watch.isActive { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
    }
}

extension epoll_event {
    /// The events of the descriptor in libcurl's format.
    var actions: Int32 {
        var actions: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { actions |= Int32(CCURL_CSELECT_IN) }
        if events & EPOLLOUT.rawValue != 0 { actions |= Int32(CCURL_CSELECT_OUT) }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { actions |= Int32(CCURL_CSELECT_ERR) }
        return actions
    }
}

#endif

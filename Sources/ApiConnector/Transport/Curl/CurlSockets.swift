// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
import Synchronization

/// The addresses of both ends of a connection.
struct CurlConnectionName: Hashable {
    let localAddress: String
    let localPort: UInt16
    let remoteAddress: String
    let remotePort: UInt16
}

/// The known facts about libcurl's connections; used only in a turn of the loop.
///
/// libcurl does not report which socket a request is about to use (`CURLINFO_ACTIVESOCKET` is known after the
/// transfer), but it reports the addresses. An entry stays when its connection closes, so each use checks the port.
final class CurlSockets {
    private struct Entry {
        let descriptor: Int32
        /// Whether the connection uses HTTP/1.x, so that nothing may arrive between two requests.
        var isSequential: Bool
        /// The last stream that the server processes; `nil` before its GOAWAY.
        var lastStream: UInt32?
        /// Whether libcurl closes the connection after its last response, because a transfer has given it up.
        var isClosing = false
        /// Whether the server violated HTTP/2, so that libcurl ends the connection.
        var isBroken = false
    }

    /// A version that an origin requires over TLS.
    enum RequiredVersion {
        /// The server has refused a request over HTTP/2 with HTTP_1_1_REQUIRED (RFC 9113, section 7).
        case http1
        /// The server has refused HTTP/1.1 in a handshake.
        case http2
    }

    /// The maximum number of entries; a process has fewer connections.
    ///
    /// At this limit, all entries are removed, which makes no request unsafe.
    private static let maximumCount = 16_384

    private var entries: [CurlConnectionName: Entry] = [:]
    private var corked: [Int32] = []
    private var requiredVersions: [HTTPOrigin: RequiredVersion] = [:]
    private let descriptors: CurlEpoll

    /// - Parameter descriptors: The descriptors that the loop watches.
    init(descriptors: CurlEpoll) {
        self.descriptors = descriptors
    }

    /// Records the socket of a new connection, one of those that were opened for it.
    func add(_ opened: [Int32], _ connection: CurlConnectionName, isSequential: Bool) {
        entries[connection] = nil
        guard let descriptor = opened.last(where: { Self.localPort(of: $0) == connection.localPort }) else { return }
        if entries.count >= Self.maximumCount { entries = [:] }
        entries[connection] = Entry(descriptor: descriptor, isSequential: isSequential)
    }

    /// Records that a connection uses HTTP/1.x.
    func markSequential(_ connection: CurlConnectionName) {
        entries[connection]?.isSequential = true
    }

    /// Whether a connection is known to use HTTP/1.x; `nil` for an unknown connection.
    func isSequential(_ connection: CurlConnectionName) -> Bool? {
        entry(of: connection)?.isSequential
    }

    /// Records that the server processes no streams after this one.
    ///
    /// A later GOAWAY may name an earlier stream, but never a later one (RFC 9113, section 6.8).
    func recordGoAway(_ lastStream: UInt32, on connection: CurlConnectionName) {
        entries[connection]?.lastStream = lastStream
    }

    /// The last stream that the server processes; `nil` if it has sent no GOAWAY.
    func lastStream(of connection: CurlConnectionName) -> UInt32? {
        entries[connection]?.lastStream
    }

    /// Records that a transfer has given up the connection.
    func markClosing(_ connection: CurlConnectionName) {
        entries[connection]?.isClosing = true
    }

    /// Whether a transfer has given up the connection.
    func isClosing(_ connection: CurlConnectionName) -> Bool {
        entries[connection]?.isClosing == true
    }

    /// Records that the server violated HTTP/2 on the connection.
    func markBroken(_ connection: CurlConnectionName) {
        entries[connection]?.isBroken = true
    }

    /// Makes libcurl read the end of the connection, so that its transfers end.
    func endReading(_ connection: CurlConnectionName) {
        if let entry = entry(of: connection) { shutdown(entry.descriptor, Int32(SHUT_RD)) }
    }

    /// Does not let libcurl read from the connection of a paused response over HTTP/1, or does again.
    func pauseReading(_ connection: CurlConnectionName, _ isPaused: Bool) {
        if let entry = entry(of: connection) { descriptors.pauseReading(entry.descriptor, isPaused) }
    }

    /// Whether the server violated HTTP/2 on the connection.
    func isBroken(_ connection: CurlConnectionName) -> Bool {
        entries[connection]?.isBroken == true
    }

    /// Records that the origin of a URL requires a version.
    func require(_ version: RequiredVersion, for url: URL) {
        guard let origin = HTTPOrigin(url) else { return }
        if requiredVersions.count >= Self.maximumCount { requiredVersions = [:] }
        requiredVersions[origin] = version
    }

    /// The version that the origin of a URL requires; nil if it has required none.
    func requiredVersion(for url: URL) -> RequiredVersion? {
        requiredVersions.isEmpty ? nil : HTTPOrigin(url).flatMap { requiredVersions[$0] }
    }

    /// Whether bytes, or the end of the stream, arrived on an HTTP/1.x connection while it was idle.
    ///
    /// This also works over TLS: nginx and HAProxy send session tickets before the first response, so libcurl reads
    /// them before the connection is idle. Later data is a response without a request, or the end of the stream.
    func hasUnsolicitedInput(_ connection: CurlConnectionName) -> Bool {
        guard let entry = entry(of: connection), entry.isSequential else { return false }
        var byte: UInt8 = 0
        let count = recv(entry.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }

    /// Whether the server has closed or reset the connection; `nil` over HTTP/1, or for an unknown connection.
    ///
    /// There may still be data to read.
    func hasEnded(_ connection: CurlConnectionName) -> Bool? {
        guard let entry = entry(of: connection), !entry.isSequential else { return nil }
        // POLLRDHUP is a macro that Swift does not import.
        let ends: Int16 = 0x2000 | Int16(POLLHUP) | Int16(POLLERR)
        var question = pollfd(fd: entry.descriptor, events: ends, revents: 0)
        return poll(&question, 1, 0) > 0 && question.revents & ends != 0
    }

    /// Whether the system has bytes of the connection that the server's system has not acknowledged yet.
    ///
    /// The bytes of a whole HTTP/2 window fit into the send buffer, so a socket on a slow line accepts more bytes.
    func hasUnacknowledgedBytes(_ connection: CurlConnectionName) -> Bool {
        guard let entry = entry(of: connection) else { return false }
        var byteCount: Int32 = 0
        return ioctl(entry.descriptor, UInt(TIOCOUTQ), &byteCount) == 0 && byteCount > 0
    }

    /// Makes the kernel buffer the data sent on an HTTP/2 connection until ``uncork()``.
    ///
    /// libcurl sends a request's head, checks for a response, and then sends the body. nginx may respond to the head
    /// with a response and RST_STREAM, and libcurl 7.88 loses such a response. If the server has closed the connection,
    /// sending the head succeeds. Sending the body then fails before libcurl has read the server's GOAWAY.
    func cork(_ connection: CurlConnectionName) {
        guard let entry = entry(of: connection), !entry.isSequential else { return }
        Self.cork(entry.descriptor, 1)
        corked.append(entry.descriptor)
    }

    /// Sends the data that the kernel has buffered; called after each call of libcurl.
    func uncork() {
        guard !corked.isEmpty else { return }
        for descriptor in corked { Self.cork(descriptor, 0) }
        corked.removeAll(keepingCapacity: true)
    }

    private static func cork(_ descriptor: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, Int32(IPPROTO_TCP), Int32(TCP_CORK), &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func entry(of connection: CurlConnectionName) -> Entry? {
        guard let entry = entries[connection] else { return nil }
        guard Self.localPort(of: entry.descriptor) == connection.localPort else { return nil }
        return entry
    }

    static func localPort(of descriptor: Int32) -> UInt16? {
        withAddress(getsockname, of: descriptor) { port, _, _ in port }
    }

    /// Calls a closure with the address of one end of a connection, and returns its result.
    ///
    /// - Parameters:
    ///   - ask: `getsockname` or `getpeername`.
    ///   - body: Gets the port, the family and the bytes of the IP address.
    fileprivate static func withAddress<Value>(
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32,
        of descriptor: Int32,
        _ body: (UInt16, Int32, UnsafeRawPointer) -> Value
    ) -> Value? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard ask(descriptor, address, &length) == 0 else { return nil }
                let bytes = UnsafeRawPointer(address)
                let family = Int32(address.pointee.sa_family)
                // The offsets of `sin_addr` and `sin6_addr`.
                guard let offset = family == AF_INET ? 4 : family == AF_INET6 ? 8 : nil else { return nil }
                let port = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
                return body(port, family, bytes + offset)
            }
        }
    }
}

extension CurlConnectionName {
    /// The addresses of a connected socket, written as libcurl writes them; nil if it is not connected.
    init?(of descriptor: Int32) {
        guard let local = CurlSockets.withAddress(getsockname, of: descriptor, Self.text),
            let remote = CurlSockets.withAddress(getpeername, of: descriptor, Self.text)
        else { return nil }
        self.init(
            localAddress: local.address,
            localPort: local.port,
            remoteAddress: remote.address,
            remotePort: remote.port
        )
    }

    /// The addresses of the connection of a transfer that was sent.
    init(ofTransfer easy: CurlEasy) {
        func text(_ information: Int) -> String {
            var text: UnsafeMutableRawPointer?
            ccurl_easy_get_pointer(easy.pointer, information, &text)
            return text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
        }
        func port(_ information: Int) -> UInt16 {
            var port = 0
            ccurl_easy_get_long(easy.pointer, information, &port)
            return UInt16(truncatingIfNeeded: port)
        }
        self.init(
            localAddress: text(CCURLINFO_LOCAL_IP),
            localPort: port(CCURLINFO_LOCAL_PORT),
            remoteAddress: text(CCURLINFO_PRIMARY_IP),
            remotePort: port(CCURLINFO_PRIMARY_PORT)
        )
    }

    private static func text(_ port: UInt16, _ family: Int32, _ address: UnsafeRawPointer) -> (
        address: String, port: UInt16
    ) {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
        }
        return (text ?? "", port)
    }
}

/// The open sockets of a loop.
///
/// A socket is closed while the lock is held, so that no other thread shuts down a socket that has the same descriptor.
final class CurlOpenSockets: Sendable {
    private struct State {
        var descriptors: Set<Int32> = []
        /// The connections that were shut down.
        var shutDown: Set<CurlConnectionName> = []
    }

    private let state = Locked(State())
    private let delivered = Atomic<Int>(0)

    /// The number of bytes of bodies that libcurl has delivered.
    var deliveredByteCount: Int { delivered.load(ordering: .relaxed) }

    func countDelivered(_ byteCount: Int) {
        delivered.wrappingAdd(byteCount, ordering: .relaxed)
    }

    func add(_ descriptor: Int32) {
        state.withLock { _ = $0.descriptors.insert(descriptor) }
    }

    func close(_ descriptor: Int32) -> Int32 {
        state.withLock { state in
            state.descriptors.remove(descriptor)
            return Foundation.close(descriptor)
        }
    }

    /// Ends a connection: libcurl reads its end after the bytes that have arrived.
    func shutDown(_ descriptor: Int32) {
        state.withLock { state in
            guard state.descriptors.contains(descriptor) else { return }
            if let name = CurlConnectionName(of: descriptor) { state.shutDown.insert(name) }
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    func isShutDown(_ connection: CurlConnectionName) -> Bool {
        state.withLock { $0.shutDown.contains(connection) }
    }

    /// Records that a new connection has the addresses and ports of an earlier one.
    func forget(_ connection: CurlConnectionName) {
        state.withLock { _ = $0.shutDown.remove(connection) }
    }

    /// How many bytes were read from each socket.
    func readByteCounts() -> [Int32: Int64] {
        state.withLock { $0.descriptors.reduce(into: [:]) { $0[$1] = Self.readByteCount(of: $1) } }
    }

    /// The bytes that have arrived, without those that were not read yet; nil if the kernel does not report them.
    private static func readByteCount(of descriptor: Int32) -> Int64? {
        // The kernel's `struct tcp_info` has `tcpi_bytes_received` at offset 128, from Linux 4.1 on. The struct of the
        // C library ends before it.
        var information = [UInt64](repeating: 0, count: 17)
        var length = socklen_t(information.count * MemoryLayout<UInt64>.size)
        var unreadCount: Int32 = 0
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), Int32(TCP_INFO), &information, &length) == 0,
            length == information.count * MemoryLayout<UInt64>.size,
            ioctl(descriptor, UInt(FIONREAD), &unreadCount) == 0
        else { return nil }
        return Int64(clamping: information[16]) - Int64(unreadCount)
    }
}

#endif

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// When a transfer reached its phases, in nanoseconds on one scale; 0 for a phase that it has not reached.
///
/// A transfer that ends early only has these times. A transfer that libcurl has ended also has libcurl's measurements.
struct CurlTimeline: Equatable {
    /// The caller created the transfer.
    var start: Int64 = 0
    /// libcurl starts the name lookup.
    var lookup: Int64 = 0
    /// libcurl opens the first socket.
    var connect: Int64 = 0
    /// libcurl starts the TLS handshake.
    var handshake: Int64 = 0
    /// libcurl sends the request.
    var send: Int64 = 0
    /// libcurl has read the latest piece of the request's body.
    var sent: Int64 = 0
    /// Whether libcurl still has to read a part of the request's body.
    var isSending = false
    /// The first byte of the response arrived.
    var firstByte: Int64 = 0

    /// libcurl's measurements of a new connection, in microseconds since its start; 0 for phases that it did not reach.
    struct Figures: Equatable {
        var nameLookup: Int64 = 0
        var connect: Int64 = 0
        var tlsHandshake: Int64 = 0
    }

    /// Resets all times but the start, because the request is sent again.
    mutating func restart() {
        self = CurlTimeline(start: start)
    }

    /// Records that the request is sent now, possibly again.
    mutating func beginSending(hasBody: Bool, at time: Int64) {
        send = time
        sent = time
        isSending = hasBody
        firstByte = 0
    }

    /// Writes the phases up to a time.
    ///
    /// - Parameter figures: libcurl's measurements for a transfer that it has ended on a new connection; otherwise nil.
    func write(to times: inout TransportTimes, at end: Int64, _ figures: Figures? = nil) {
        guard send > 0 else { return writeConnection(to: &times, at: end) }
        var setUp = Duration.zero
        if let figures {
            setUp = times.setConnection(figures)
        } else if connect > 0 {
            writeConnection(to: &times, at: send)
            times[.waiting] = nil
            setUp = times.total
        }
        times[.waiting] = max(Self.duration(start, send) - setUp, .zero)
        guard firstByte > 0 else {
            times[.sending] = Self.duration(send, isSending ? end : sent)
            if !isSending { times[.responseWait] = Self.duration(sent, end) }
            return
        }
        // A server may respond before it has received the whole body.
        let sent = min(sent, firstByte)
        times[.sending] = Self.duration(send, sent)
        times[.responseWait] = Self.duration(sent, firstByte)
        times[.receiving] = Self.duration(firstByte, end)
    }

    private func writeConnection(to times: inout TransportTimes, at end: Int64) {
        let marks = [(lookup, TransportTimes.Phase.nameLookup), (connect, .connecting), (handshake, .tlsHandshake)]
            .filter { $0.0 > 0 }
        times[.waiting] = Self.duration(start, marks.first?.0 ?? end)
        for (index, mark) in marks.enumerated() {
            let next = index + 1 < marks.count ? marks[index + 1].0 : end
            times[mark.1] = Self.duration(mark.0, next)
        }
    }

    private static func duration(_ start: Int64, _ end: Int64) -> Duration { .nanoseconds(max(end - start, 0)) }
}

extension TransportTimes {
    /// Writes the times of opening a connection.
    ///
    /// - Returns: The total time.
    fileprivate mutating func setConnection(_ figures: CurlTimeline.Figures) -> Duration {
        let connected = max(figures.connect, figures.nameLookup)
        let secured = max(figures.tlsHandshake, connected)
        self[.nameLookup] = .microseconds(figures.nameLookup)
        self[.connecting] = .microseconds(connected - figures.nameLookup)
        if figures.tlsHandshake > 0 { self[.tlsHandshake] = .microseconds(secured - connected) }
        return .microseconds(secured)
    }
}

/// When the last head of a response began to arrive.
struct CurlHeadTime {
    /// When its first line arrived; 0 before it.
    private(set) var nanoseconds: Int64 = 0
    private var turn = -1

    /// Records the first line of a head.
    mutating func begin(in turn: Int, at nanoseconds: Int64 = MonotonicTime.nanoseconds) {
        self.turn = turn
        self.nanoseconds = nanoseconds
    }

    /// The time of a response's end; the head's time if the response has arrived in one turn.
    func end(in turn: Int, now: @autoclosure () -> Int64) -> Int64 {
        turn == self.turn ? nanoseconds : now()
    }
}

#if Curl && os(Linux)
// MARK: Calls of libcurl

extension CurlHandle {
    /// Records that the final head is complete.
    func noteHead(of transfer: CurlTransfer) {
        guard transfer.timesRecord != nil else { return }
        let version = transfer.requestHead.isSecure ? CurlOpenSSL.protocolVersion(of: easy) : nil
        transfer.timing.withLock { timing in
            timing.timeline.firstByte = headTime.nanoseconds
            timing.tlsVersion = version
        }
        if transfer.request.delivery == .streamed { recordTimes(of: transfer) }
    }

    /// Reads libcurl's measurements.
    func recordTimes(of transfer: CurlTransfer) {
        guard transfer.timesRecord != nil else { return }
        var figures = ccurl_figures()
        let hasBody = transfer.inlineBody != nil || transfer.upload != nil
        ccurl_easy_get_figures(easy.pointer, connecting.isNew ? 1 : 0, hasBody ? 1 : 0, &figures)
        let connection = connecting.connection
        transfer.recordTimes(
            connecting.isNew
                ? CurlTimeline.Figures(
                    nameLookup: figures.name_lookup,
                    connect: figures.connect,
                    tlsHandshake: figures.app_connect
                ) : nil,
            // For a small response, which arrives in one turn, this saves a reading of the clock.
            at: headTime.end(in: turns.number, now: MonotonicTime.nanoseconds)
        ) { times in
            times.isConnectionReused = !connecting.isNew
            times.httpVersion = Self.version(figures.http_version)
            times.remoteAddress = connection?.remoteAddress
            times.remotePort = connection.map { Int($0.remotePort) }
            times.requestBodyByteCount = figures.uploaded
            times.responseHeadByteCount = Int64(figures.header_size)
            times.responseBodyByteCount = figures.downloaded
            if !head.isCoded || transfer.decompression == nil { times.decodedBodyByteCount = figures.downloaded }
        }
    }

    private static func version(_ number: Int) -> String? {
        switch number {
        case 1: "1.0"
        case 2: "1.1"
        case 3: "2"
        case 30: "3"
        default: nil
        }
    }
}

extension CurlTransfer {
    /// Writes the times of this transfer so far.
    ///
    /// - Parameters:
    ///   - figures: libcurl's measurements for a new connection; otherwise nil.
    ///   - end: The time of the measurement, in nanoseconds; now by default.
    func recordTimes(
        _ figures: CurlTimeline.Figures? = nil,
        at end: @autoclosure () -> Int64 = MonotonicTime.nanoseconds,
        _ more: (inout TransportTimes) -> Void = { _ in }
    ) {
        guard let timesRecord else { return }
        let end = end()
        let (timeline, tlsVersion) = timing.withLock { ($0.timeline, $0.tlsVersion) }
        timesRecord.update { times in
            timeline.write(to: &times, at: end, figures)
            times.tlsVersion = tlsVersion
            more(&times)
        }
    }
}

#endif

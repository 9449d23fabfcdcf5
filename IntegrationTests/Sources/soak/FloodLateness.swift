// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Glibc
import Servers
import Support
import Synchronization

/// Measures how late time limits end calls while a server floods the same provider with HTTP/2 frames without data.
///
/// libcurl does not return during such a flood. The watch of `CurlProvider` must end the calls.
enum FloodLateness {
    private static let limit = Duration.milliseconds(50)
    private static let duration = Duration.seconds(1)
    /// The longest lateness in milliseconds, 95 times of 100.
    private static let bound = 100.0

    /// Prints the lateness for each flood, and returns a problem for each that exceeds its bound.
    static func report() async throws -> [String] {
        var problems: [String] = []
        for flood in HTTP2Flood.all { problems += try await report(flood) }
        return problems
    }

    private static func report(_ flood: HTTP2Flood) async throws -> [String] {
        let silent = try RawServer { $0.waitForClose() }
        let sentBlockCount = SentBlockCount()
        let hostile = try flood.server(counting: sentBlockCount)
        let proxy = flood.isSecure ? try HAProxy(.tunnel(to: hostile.port, alpn: "h2")) : nil
        let silentURL = try silent.url("/")
        let hostileURL = try proxy?.url("/") ?? hostile.url("/")
        let provider = CurlProvider.trusting(proxy?.authority) {
            $0.httpVersion = flood.isSecure ? .automatic : .http2PriorKnowledge
        }
        // These calls have no limit. One follows the other, because the provider closes the connection of each.
        let flooding = Task {
            while !Task.isCancelled { _ = try? await provider.response(for: ApiRequest(url: hostileURL)) }
        }
        let sleeper = SleepingThread(limit)
        let end = ContinuousClock.now + duration
        async let ofHealthyCalls = lateness(of: silentURL, over: provider, until: end)
        async let ofHostileCalls = lateness(of: hostileURL, over: provider, until: end)
        let (healthy, ofHostile) = (await ofHealthyCalls, await ofHostileCalls)
        let machine = Percentiles(sleeper.end())
        flooding.cancel()
        await flooding.value
        withExtendedLifetime((silent, hostile, proxy)) {}
        guard sentBlockCount.value.load(ordering: .relaxed) > 0 else { return ["\(flood): nothing was flooded"] }
        return judge(healthy, "\(flood), a call to another server", machine)
            // libcurl or the provider may end each of these calls before its limit.
            + (ofHostile.isEmpty ? [] : judge(ofHostile, "\(flood), a call to this server", machine))
    }

    /// Prints the lateness, and returns a problem if it exceeds its bound.
    ///
    /// A busy machine delays a limit as often as it delays a thread that sleeps. A limit waits for several threads.
    private static func judge(_ lateness: [Double], _ name: String, _ machine: Percentiles) -> [String] {
        guard !lateness.isEmpty else { return ["\(name): no limit has ended a call"] }
        let percentiles = Percentiles(lateness)
        print("\(name): \(lateness.count) limits, late by: \(percentiles)")
        guard percentiles.high > bound + 2 * machine.high else { return [] }
        return ["\(name): a limit may be late by at most \(Int(bound)) ms; a thread that sleeps is late by: \(machine)"]
    }

    /// Makes calls with each limit, and returns by how many milliseconds the limits were late.
    private static func lateness(
        of url: URL,
        over provider: CurlProvider,
        until end: ContinuousClock.Instant
    ) async -> [Double] {
        let limits: [(Timeouts, ApiConnectorError.Kind)] = [
            (Timeouts(attempt: limit), .timedOut),
            (Timeouts(stall: limit), .stalled),
            (Timeouts(overall: limit), .deadlineExceeded),
        ]
        let api: NetworkConnector<CurlProvider, AnyRoute> = NetworkConnector(environment: .loopback, provider: provider)
        return await withTaskGroup(of: [Double].self) { group in
            for (timeouts, kind) in limits {
                group.addTask {
                    var all: [Double] = []
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        do throws(ApiConnectorError) {
                            _ = try await api.data(at: url, options: CallOptions(timeouts: timeouts))
                        } catch {
                            let lateness = ContinuousClock.now - start - limit
                            // An end after the limit is late, also if something else ended the call.
                            if error.kind == kind || lateness > .zero { all.append(lateness / .milliseconds(1)) }
                        }
                    }
                    return all
                }
            }
            var all: [Double] = []
            for await some in group { all += some }
            return all
        }
    }
}

/// HTTP/2 frames without data that a server sends as fast as it can.
private struct HTTP2Flood: CustomStringConvertible {
    enum Frames: String, CaseIterable {
        case windowUpdate = "WINDOW_UPDATE"
        case priority = "PRIORITY"
        case goAway = "GOAWAY"
        case settings = "SETTINGS"
        case unknownType = "an unknown type"
        case emptyData = "empty DATA"

        var frame: [UInt8] {
            switch self {
            case .windowUpdate: HTTP2Flood.frame(type: 8, [0, 0, 0, 1])
            case .priority: HTTP2Flood.frame(type: 2, stream: 1, [0, 0, 0, 0, 15])
            case .goAway: HTTP2Flood.frame(type: 7, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
            case .settings: HTTP2Flood.frame(type: 4)
            case .unknownType: HTTP2Flood.frame(type: 0x99)
            case .emptyData: HTTP2Flood.frame(type: 0, stream: 1)
            }
        }
    }

    let frames: Frames
    let isSecure: Bool
    let isAfterHead: Bool

    static let all = Frames.allCases.flatMap { frames in
        [false, true].flatMap { isSecure in
            [false, true].map { HTTP2Flood(frames: frames, isSecure: isSecure, isAfterHead: $0) }
        }
    }

    var description: String {
        "\(frames.rawValue) \(isSecure ? "over TLS" : "without TLS") \(isAfterHead ? "after" : "before") the head"
    }

    /// A server without TLS that floods each connection after the client's preface.
    func server(counting sent: SentBlockCount) throws -> RawServer {
        var start = Self.frame(type: 4) + Self.frame(type: 4, flags: 1)
        // The status 200, from HPACK's static table.
        if isAfterHead { start += Self.frame(type: 1, flags: 4, stream: 1, [0x88]) }
        let block = Array(repeatElement(frames.frame, count: 2048).joined())
        return try RawServer { [start] connection in
            guard connection.readHead() != nil, connection.send(start) else { return }
            while connection.send(block) { sent.value.add(1, ordering: .relaxed) }
        }
    }

    private static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }
}

/// The number of blocks that a flooding server has sent.
private final class SentBlockCount: Sendable {
    let value = Atomic(0)
}

/// A thread that sleeps repeatedly, and measures by how much the machine delays its ends.
private final class SleepingThread: Sendable {
    private let state = Mutex((isOver: false, lateness: [Double]()))

    init(_ duration: Duration) {
        Thread { [self] in
            while !state.withLock({ $0.isOver }) {
                let start = ContinuousClock.now
                usleep(UInt32(duration / .microseconds(1)))
                let lateness = (ContinuousClock.now - start - duration) / .milliseconds(1)
                state.withLock { $0.lateness.append(lateness) }
            }
        }
        .start()
    }

    /// Ends the thread, and returns the lateness of each sleep in milliseconds.
    func end() -> [Double] {
        state.withLock { state in
            state.isOver = true
            return state.lateness
        }
    }
}
#endif

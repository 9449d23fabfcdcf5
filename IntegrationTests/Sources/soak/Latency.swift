// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Support

/// Measures the time from the write of an event to its arrival in the loop, the time until a server notices that the
/// client has left the loop, and the memory that a slow reader's stream uses.
enum Latency {
    /// Prints each figure, and returns a problem for each figure that exceeds its bound.
    static func report() async throws -> [String] {
        let server = try StreamServer()
        var problems: [String] = []
        let transports: [(String, AnyProvider)] = [
            ("CurlProvider", AnyProvider(CurlProvider(configuration: CurlConfiguration()))),
            ("URLSessionProvider", AnyProvider(URLSessionProvider(configuration: .ephemeral))),
        ]
        for (name, provider) in transports {
            let api = NetworkConnector(environment: .loopback, provider: provider, router: AnyRoute.self)
            let delivery = try await deliveries(api, server)
            let closing = try await closings(api, server)
            problems += judge(delivery, "\(name): from an event's write to its arrival in the loop", bound: 20)
            problems += judge(closing, "\(name): from leaving the loop to the close at the server", bound: 50)
        }
        let api = NetworkConnector(environment: .loopback, provider: transports[0].1, router: AnyRoute.self)
        problems += try await slowReader(api, server)
        return problems
    }

    private typealias Api = NetworkConnector<AnyProvider, AnyRoute>

    private static func deliveries(_ api: Api, _ server: StreamServer) async throws -> [Double] {
        var delays: [Double] = []
        for _ in 0..<4 {
            for try await sent in api.stream(of: Int64.self, at: server.url(.events), as: .events) {
                delays.append((StreamServer.now - .nanoseconds(sent)) / .milliseconds(1))
            }
        }
        return delays
    }

    private static func closings(_ api: Api, _ server: StreamServer) async throws -> [Double] {
        var delays: [Double] = []
        for _ in 0..<400 {
            var left = Duration.zero
            for try await _ in api.stream(of: Int.self, at: server.url(.held), as: .events) {
                left = StreamServer.now
                break
            }
            delays.append((await server.nextClosing() - left) / .milliseconds(1))
        }
        return delays
    }

    /// Prints percentiles of delays in milliseconds.
    ///
    /// The 95th percentile must be within the bound.
    private static func judge(_ delays: [Double], _ what: String, bound: Double) -> [String] {
        let sorted = delays.sorted()
        func percentile(_ percent: Int) -> Double { sorted[min(sorted.count * percent / 100, sorted.count - 1)] }
        let figures = [50, 95, 99].map { String(format: "%d%%: %.2f ms", $0, percentile($0)) }
        print("\(what): \(figures.joined(separator: ", ")), of \(sorted.count)")
        return percentile(95) <= bound ? [] : ["\(what): 95 of 100 must be within \(Int(bound)) ms"]
    }

    /// Reads 256 MiB of records at a thirtieth of the possible speed.
    private static func slowReader(_ api: Api, _ server: StreamServer) async throws -> [String] {
        // This makes the kernel measure a new peak from here on.
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let before = status("VmHWM")
        var count = 0
        let start = StreamServer.now
        for try await _ in api.stream(of: String.self, at: server.url(.records), as: .jsonLines) {
            count += 1
            if count.isMultiple(of: 64) { try await Task.sleep(for: .milliseconds(1)) }
        }
        let seconds = (StreamServer.now - start) / .seconds(1)
        let growth = Double(status("VmHWM") - before) / 1024
        let read = (count * StreamServer.recordByteCount) >> 20
        print(
            String(format: "CurlProvider: a slow reader of %d MiB in %.1f s: peak %.1f MiB more", read, seconds, growth)
        )
        var problems: [String] = []
        if count != StreamServer.recordCount { problems.append("\(count) records of \(StreamServer.recordCount) came") }
        // The growth consists of the transport's window of 1 MiB, the parsed records of one chunk, and the allocator's
        // reserve.
        if growth > 8 { problems.append("a slow reader's stream may use at most 8 MiB") }
        return problems
    }

    /// A figure of the kernel about this process, in KiB.
    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
#endif

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Support

/// How soon an event is in the loop, how soon a server sees that the loop was left, and what a slow reader's stream
/// takes.
enum Latency {
    /// Prints each figure; returns what is over its bound.
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
            problems += judge(delivery, "\(name): an event in the loop, from before its write on", bound: 20)
            problems += judge(closing, "\(name): the close at the server, from leaving the loop on", bound: 50)
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

    /// Prints percentiles; the 95th has to be within the bound, in milliseconds.
    private static func judge(_ delays: [Double], _ what: String, bound: Double) -> [String] {
        let sorted = delays.sorted()
        func percentile(_ percent: Int) -> Double { sorted[min(sorted.count * percent / 100, sorted.count - 1)] }
        let figures = [50, 95, 99].map { String(format: "%d%%: %.2f ms", $0, percentile($0)) }
        print("\(what): \(figures.joined(separator: ", ")), of \(sorted.count)")
        return percentile(95) <= bound ? [] : ["\(what): 95 of 100 have to be within \(Int(bound)) ms"]
    }

    /// Reads 256 MiB of records at a thirtieth of what they could come at.
    private static func slowReader(_ api: Api, _ server: StreamServer) async throws -> [String] {
        // From here on the kernel counts the peak again.
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
        if count != StreamServer.recordCount { problems.append("\(count) records came of \(StreamServer.recordCount)") }
        // The transport's window of 1 MiB, what is parsed of one chunk, and what the allocator keeps.
        if growth > 8 { problems.append("a slow reader's stream may take 8 MiB") }
        return problems
    }

    /// A figure of the kernel's about this process, in KiB.
    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
#endif

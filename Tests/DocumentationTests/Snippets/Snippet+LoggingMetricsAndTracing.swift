// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum LoggingMetricsAndTracing {
    struct SlowCalls: CallObserver {
        let report: @Sendable (String) -> Void

        func handle(_ event: CallEvent) {
            guard case .finished(let totals) = event.kind, totals.elapsed > .seconds(2) else { return }
            report("\(event.route ?? "-") took \(totals.elapsed)")
        }
    }

    static func ready(write: @escaping @Sendable (String) -> Void) {
        let metrics = CallMetrics()
        let provider = SystemProvider()
            .tracing()
            .observing(by: metrics)
            .observing(by: CallLog { level, line in write("\(level): \(line)") })
            .observing(by: CallLog.curlOfFailedCalls { command in write(command) })
        for (label, series) in metrics.snapshot {
            write("\(label.method) \(label.route) \(label.outcome): \(series.callCount)")
        }
        _ = provider
    }

    static func prints() {
        let provider = SystemProvider().observing(by: CallLog { level, line in print("\(level): \(line)") })
        _ = provider
    }

    static func slow(writeToDisk: @escaping @Sendable (String) -> Void) async {
        let log = CallLog { _, line in writeToDisk(line) }.buffered(eventCount: 4096)
        let provider = SystemProvider().observing(by: log)
        await log.flush()
        _ = provider
    }

    static func times(
        _ api: NetworkConnector<SystemProvider, Blog>,
        write: @escaping @Sendable (String) -> Void
    ) async throws {
        let response = try await api.response(of: User.self, at: .me)
        if let times = response.times, let phase = times.longestPhase {
            write("\(phase.rawValue) took longest: \(times)")
        }
    }

    static func archive(_ folder: URL) throws {
        let archive = ExchangeArchive(exchangeCount: 200, failureFile: folder.appending(path: "failures.har"))
        let provider = SystemProvider().archived(in: archive).retrying()
        try archive.save(to: folder.appending(path: "now.har"))
        _ = provider
    }

    static func saveAtASignal(_ archive: ExchangeArchive, _ folder: URL) -> any DispatchSourceSignal {
        signal(SIGUSR1, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1)
        source.setEventHandler {
            do {
                try archive.save(to: folder.appending(path: "now.har"))
            } catch {
                print("The HAR file was not written: \(error)")
            }
        }
        source.resume()
        return source
    }

    @Test static func theLineOfTheGuideIsTheLogs() async throws {
        let lines = Lines()
        let clock = ManualClock()
        let provider = TestConnector { _ in
            clock.advance(by: .microseconds(12_300))
            return .json(User(name: "Ada"))
        }
        let api = NetworkConnector(
            environment: .production,
            provider: provider.observing(
                by: CallLog { level, line in lines.add("\(level): \(line)") },
                timeSource: clock,
                random: { 0x4bf9_2f35_77b3_4da6 }
            ),
            router: Blog.self
        )
        _ = try await api.value(User.self, at: .me)

        let guide = CodeBlockTests.root.appending(
            path: "Sources/ApiConnector/Documentation.docc/Guides/LoggingMetricsAndTracing.md"
        )
        let text = try String(contentsOf: guide, encoding: .utf8)
        #expect(lines.all.count == 1)
        for line in lines.all { #expect(text.contains("```text\n\(line)\n```"), "\(line)") }
    }

    private final class Lines: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Calls that resume after a lost connection, with many lost connections in a row.
@Suite(.timeLimit(.minutes(10))) struct FaultStormTests {}

extension FaultStormTests {
    /// Two of five requests break somewhere.
    private static let breaks: [Fault] =
        Fault.transient + (0..<24).flatMap { [Fault(.truncated, at: .byte($0)), Fault(.reset, at: .byte($0 * 3))] }
        + [Fault(.stall, at: .byte(7)), Fault(.timeout, at: .byte(11)), Fault(.truncated, at: .end)]

    private static let seeds: [UInt64] = Array(0..<60)

    private func storm(
        _ seed: UInt64,
        _ respond: @escaping @Sendable (ApiRequest) -> TestConnectorResponse
    ) -> (run: FaultRun, shop: NetworkConnector<AnyProvider, Shop>) {
        let run = FaultRun(.percent(40, seed: seed, of: Self.breaks))
        let policy = RetryPolicy(maximumAttemptCount: 20, maximumDuration: nil, budget: .unlimited)
        let provider = TestConnector { respond($0) }.injecting(run).retrying(policy)
        let shop = NetworkConnector(
            environment: ShopServer.test,
            provider: AnyProvider(provider),
            router: Shop.self,
            configuration: ConnectionConfiguration(timeSource: run.timeSource)
        )
        return (run, shop)
    }

    private static let policy = RetryPolicy(maximumAttemptCount: 100, maximumDuration: nil)

    @Test func eventsArriveOnceAndInOrder() async throws {
        var breakCount = 0
        for seed in Self.seeds {
            let (run, shop) = storm(seed) { request in
                let last = Int(request.headers["Last-Event-ID"] ?? "0") ?? 0
                guard last < 12 else { return .status(204) }
                let events = (last + 1...min(last + 5, 12)).map { "id: \($0)\ndata: \($0)\n\n" }
                return .data(Data(events.joined().utf8), headers: [.contentType: "text/event-stream"]).chunked(
                    byteCount: 5
                )
            }
            var ids: [String] = []
            for try await event in shop.stream(at: .teas(page: 1), as: .events.resuming(Self.policy)) {
                ids.append(event.id)
            }
            #expect(ids == (1...12).map { "\($0)" }, "seed \(seed)")
            breakCount += run.injected.count
        }
        #expect(breakCount > Self.seeds.count)
    }

    @Test func linesArriveOnceAndInOrder() async throws {
        let lines = Data((1...30).map { "\($0)\n" }.joined().utf8)
        for seed in Self.seeds {
            let (_, shop) = storm(seed) { .ranged(lines, to: $0) }
            var read: [Int] = []
            let stream = shop.stream(of: Int.self, at: .teas(page: 1), as: .jsonLines.resuming(Self.policy))
            for try await number in stream { read.append(number) }
            #expect(read == Array(1...30), "seed \(seed)")
        }
    }

    @Test func filesArriveWhole() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let content = Data.counting(by: 3, byteCount: 200)
        for seed in Self.seeds {
            let (_, shop) = storm(seed) { .ranged(content, to: $0) }
            let file = folder.appending(path: "\(seed)")
            _ = try await shop.download(at: .teas(page: 1), to: file, resuming: Self.policy).file()
            #expect(try Data(contentsOf: file) == content, "seed \(seed)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count == Self.seeds.count)
    }
}

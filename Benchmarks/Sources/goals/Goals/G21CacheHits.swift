// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import MicroCases

/// Hits of a cache in memory and on disk, with a body of 1 KB, decoded, in sequence.
///
/// A hit includes the pipeline of the call, which the call without a cache shows. The processor time includes all
/// threads.
struct G21CacheHits: Goal {
    let number = "G21"
    let title = "a cache hit with 1 KB, decoded"

    func measure(on bench: Bench) async throws -> Outcome {
        let text = String(repeating: "A kilobyte of text. ", count: 48)
        let data = Data(#"{"id":42,"title":"Forty-six bytes, no more..","text":"\#(text)"}"#.utf8)
        let fields: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "public, max-age=31536000", "ETag": "\"5f0c\"",
            "Date": "Sat, 21 Nov 2026 10:45:29 GMT", "Server": "nginx", "X-Request-Id": "42",
        ]
        let decoder = JSONDecoder()
        let canned = TestConnector { _ in .data(data, headers: fields) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "apiconnector-cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (inMemory, onDisk) = (
            canned.caching(in: MemoryCacheStorage()), canned.caching(in: DiskCacheStorage(folder: folder))
        )
        let bare = ConnectorGet(canned, port: 80)
        let memory = ConnectorGet(inMemory, port: 80)
        let disk = ConnectorGet(onDisk, port: 80)
        for get in [bare, memory, disk] as [any SmallGet] { try await get.check() }
        let request = ApiRequest(url: URL(string: "http://127.0.0.1:80/small") ?? URL(filePath: ""))
        guard try await inMemory.response(for: request).cacheHit == .fresh,
            try await onDisk.response(for: request).cacheHit == .fresh
        else { throw WrongFixture(description: "a call that should be a hit was sent") }

        let count = bench.isQuick ? 10_000 : 50_000
        var contest = Contest()
        contest.add("memory") { try await Rate.microseconds(count: count) { keep(try await memory.value()) } }
        contest.add("disk") { try await Rate.microseconds(count: count / 5) { keep(try await disk.value()) } }
        contest.add("bare") { try await Rate.microseconds(count: count) { keep(try await bare.value()) } }
        contest.add("decoding") {
            try await Rate.microseconds(count: count) { keep(try decoder.decode(SmallValue.self, from: data)) }
        }
        let samples = try await contest.run(rounds: bench.rounds)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("in memory", samples.median("memory"), .microseconds))
        outcome.add(Figure("on disk", samples.median("disk"), .microseconds))
        outcome.add(Figure("without a cache", samples.median("bare"), .microseconds))
        outcome.add(Figure("the decoding", samples.median("decoding"), .microseconds))
        outcome.add(
            Check(
                "in memory, on top of the decoding",
                samples.difference("memory", from: "decoding"),
                atMost: 8,
                .microseconds
            ),
            Check(
                "on disk, on top of the decoding",
                samples.difference("disk", from: "decoding"),
                atMost: 60,
                .microseconds
            )
        )
        return outcome
    }
}

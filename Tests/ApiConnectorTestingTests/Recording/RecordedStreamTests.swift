// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// Answers that come slowly, in part, or not at all, as they are replayed.
@Suite(.timeLimit(.minutes(10))) struct RecordedStreamTests: RecordingSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension RecordedStreamTests {
    @Test func replaysAStreamWithItsTimingOnTheClock() async throws {
        let clock = ManualClock()
        let recorder = try Recorder(file, mode: .record)
        let configuration = ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        let chunks = ["ab", "c", "def"].map { Data($0.utf8) }
        let recording = connection(recorder, configuration) { _ in
            .chunks(chunks).pausing(.seconds(2), on: clock).after(.seconds(1), on: clock)
        }
        let (recorded, waits) = try await read(recording, clock)
        try recorder.save()

        let replaying = NetworkConnector(
            environment: .test,
            provider: TestConnector(try Replay(contentsOf: file, pace: .recorded)),
            router: Shop.self,
            configuration: configuration
        )
        let (replayed, replayedWaits) = try await read(replaying, clock)
        #expect(recorded == chunks)
        #expect(replayed == chunks)
        #expect(waits == [.seconds(1), .seconds(2), .seconds(2)])
        #expect(replayedWaits == waits)
    }

    private func read<Provider: DataRequestType>(
        _ shop: NetworkConnector<Provider, Shop>,
        _ clock: ManualClock
    ) async throws -> ([Data], [Duration]) {
        let call = Task {
            var chunks: [Data] = []
            for try await chunk in shop.stream(of: Data.self, at: .tea(id: 1), as: .chunks) { chunks.append(chunk) }
            return chunks
        }
        let mover = Task { () -> [Duration] in
            var waits: [Duration] = []
            while let wait = try? await clock.nextSleep(within: .seconds(Int64.max)) {
                waits.append(wait)
                clock.advance(by: wait)
            }
            return waits
        }
        let chunks = try await call.value
        mover.cancel()
        return (chunks, await mover.value)
    }

    @Test func anAbandonedStreamEndsWithAdviceToRecordTheRest() async throws {
        let recorder = try Recorder(file, mode: .record)
        let feed = BodyFeed()
        let shop = connection(recorder) { _ in .feed(feed) }
        let sending = Task { try await feed.send(Data("one".utf8)) }
        for try await chunk in shop.stream(of: Data.self, at: .tea(id: 1), as: .chunks) {
            #expect(chunk == Data("one".utf8))
            break
        }
        try await sending.value
        try recorder.save()

        let replay = connection(try Recorder(file, mode: .replay))
        var seen: [Data] = []
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await chunk in replay.stream(of: Data.self, at: .tea(id: 1), as: .chunks) { seen.append(chunk) }
        }
        #expect(seen == [Data("one".utf8)])
        #expect(error?.kind == .unmatched)
        #expect(
            error?.detail.hasPrefix(
                "the recording ends here, because the reader stopped reading the body; to record it"
            ) == true
        )
    }

    @Test func aCallThatWasCanceledIsSilentWhenItIsReplayed() async throws {
        let recorder = try Recorder(file, mode: .record)
        let script = Script(for: Shop.self, in: .test)
        script.on(.tea(id: 1)).answer(.never)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).recording(by: recorder),
            router: Shop.self
        )
        let call = Task { try await shop.data(at: .tea(id: 1)) }
        _ = try await script.nextRequest()
        call.cancel()
        _ = await call.result
        try recorder.save()

        let clock = ManualClock()
        let timeouts = Timeouts(attempt: .seconds(60), stall: Timeouts.noLimit, overall: nil)
        let configuration = ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        let replay = connection(try Recorder(file, mode: .replay), configuration)
        let silent = Task { try await replay.data(at: .tea(id: 1)) }
        #expect(try await clock.nextSleep() == .seconds(60))
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: ApiConnectorError.self) { try await silent.value }
        #expect(error?.kind == .timedOut)
    }
}

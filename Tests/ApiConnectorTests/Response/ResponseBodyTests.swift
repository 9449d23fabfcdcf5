// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import Testing

@testable import ApiConnector
@testable import ApiConnectorTesting

struct ResponseBodyTests {
    private func chunks(_ texts: [String]) -> ResponseBody {
        ResponseBody(
            chunks: AsyncStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        )
    }

    @Test func yieldsChunksInOrderWithoutEmptyOnes() async throws {
        var texts: [String] = []
        for try await chunk in chunks(["a", "", "bc", ""]) { texts.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(texts == ["a", "bc"])
    }

    @Test func collectsUpToTheLimit() async throws {
        #expect(try await chunks(["ab", "cd"]).collect(upTo: 4) == Data("abcd".utf8))
        let error = await #expect(throws: ApiConnectorError.self) { try await chunks(["ab", "cd"]).collect(upTo: 3) }
        #expect(error?.kind == .bodyTooLarge)
    }

    @Test func givesAccessToCollectedBytesAndKeepsThem() async throws {
        let body = ResponseBody(Data("ab".utf8))
        #expect(body.collected == Data("ab".utf8))
        #expect(try await body.collect(upTo: 2) == Data("ab".utf8))
        #expect(chunks(["ab"]).collected == nil)
    }

    /// The sequence may be a connection, and the body still be held.
    @Test(.timeLimit(.minutes(10))) func releasesItsSequencePastTheLimit() async throws {
        let isGone = Eventual<Void>()
        func endless() -> (ResponseBody, AsyncStream<Data>.Continuation) {
            let (chunks, source) = AsyncStream.makeStream(of: Data.self)
            source.yield(Data("abcd".utf8))
            source.onTermination = { _ in isGone.set(()) }
            return (ResponseBody(chunks: chunks), source)
        }
        let (body, source) = endless()
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 3) }
        #expect(error?.kind == .bodyTooLarge)
        await isGone.value()
        withExtendedLifetime((body, source)) {}
    }

    @Test func canBeReadOnce() async throws {
        let body = chunks(["ab"])
        _ = try await body.collect(upTo: 10)
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 10) }
        #expect(error?.detail == "the body was already read, and can be read only once; collect it to use it twice")
    }

    @Test func isCanceledWhenItIsReleased() async throws {
        try await confirmation { canceled in
            let body = ResponseBody(pulling: { Data("ab".utf8) }, cancel: { canceled() })
            for try await _ in body { break }
        }
    }

    @Test func isNotCanceledAfterItsEnd() async throws {
        try await confirmation(expectedCount: 0) { canceled in
            let body = ResponseBody(pulling: { nil }, cancel: { canceled() })
            _ = try await body.collect(upTo: 10)
        }
    }

    @Test func isCanceledPastTheLimit() async throws {
        await confirmation { canceled in
            let body = ResponseBody(pulling: { Data("ab".utf8) }, cancel: { canceled() })
            _ = try? await body.collect(upTo: 1)
        }
    }

    @Test func passesTheSourcesError() async throws {
        let body = ResponseBody(pulling: { () throws(ApiConnectorError) in throw ApiConnectorError(.stalled, "silence")
        })
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 10) }
        #expect(error?.kind == .stalled)
    }

    @Test func endsAtOnceWhenItsReaderIsCanceled() async throws {
        let (silence, source) = AsyncStream.makeStream(of: Data.self)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let body = ResponseBody(
            pulling: {
                start.yield()
                for await chunk in silence { return chunk }
                return nil
            },
            cancel: { source.finish() }
        )
        let reader = Task { try await body.collect(upTo: 10) }
        for await _ in started { break }
        reader.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await reader.value }
        #expect(error?.kind == .cancelled)
    }

    private func response(_ body: ResponseBody) -> ApiResponse {
        ApiResponse(to: ApiRequest(url: URL(filePath: "/")), status: 200, body: body)
    }

    @Test func isOpenedWithItsFirstChunk() async throws {
        let pullCount = Locked(0)
        let body = ResponseBody(pulling: {
            pullCount.withLock { count in
                count += 1
                return count < 3 ? Data("a".utf8) : nil
            }
        })
        let response = response(body)
        let opened = try await response.opened(by: response.request)
        #expect(pullCount.withLock { $0 } == 1)
        #expect(try await opened.body.collect(upTo: 10) == Data("aa".utf8))
    }

    @Test func cannotBeOpenedAfterItWasRead() async throws {
        let response = response(chunks(["ab"]))
        _ = try await response.body.collect(upTo: 10)
        let error = await #expect(throws: ApiConnectorError.self) { try await response.opened(by: response.request) }
        #expect(error?.kind == .other)
    }

    @Test func aCollectedBodyEndsWhenItIsTransformed() throws {
        let endCount = Locked(0)
        let body = try ResponseBody(Data("ab".utf8)).transformed {
            Data($0.reversed())
        } onEnd: { end in
            if case .finished = end { endCount.withLock { $0 += 1 } }
        }
        #expect(body.collected == Data("ba".utf8))
        #expect(endCount.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(10))) func aPullAfterACancellationIsCanceled() async throws {
        let gate = Gate("never")
        let source = PulledBodySource(
            pull: {
                try? await gate.opened()
                return nil
            },
            stop: {}
        )
        source.cancel()
        #expect(try await source.next() == nil)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorConformance
import ApiConnectorTesting
import Testing

struct RequestBodyStreamTests {
    private static func chunks(_ texts: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    @Test func readsAFileAgainForEachAttempt() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let data = Data.counting(by: 1, byteCount: 100_000)
        try data.write(to: file)
        let body = RequestBody.file(file)
        #expect(body.byteCount == 100_000)
        #expect(body.isReplayable)
        #expect(body.isStreamed)
        #expect(try await body.collect(upTo: 100_000) == data)
        #expect(try await body.collect(upTo: 100_000) == data)
    }

    @Test func saysThatAFileCannotBeRead() async throws {
        let body = RequestBody.file(URL(filePath: "/nowhere/at/all"))
        #expect(body.byteCount == nil)
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 10) }
        #expect(error?.kind == .encodingFailed)
    }

    @Test func makesItsSourceForEachAttempt() async throws {
        let body = RequestBody.stream { Self.chunks(["ab", "", "cd"]) }
        #expect(body.byteCount == nil)
        #expect(try await body.collect(upTo: 4) == Data("abcd".utf8))
        #expect(try await body.collect(upTo: 4) == Data("abcd".utf8))
    }

    @Test func isSentOnceIfItIsNotReplayable() async throws {
        let body = RequestBody.stream(isReplayable: false) { Self.chunks(["ab"]) }
        #expect(!body.isReplayable)
        _ = try await body.collect(upTo: 4)
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 4) }
        #expect(error?.kind == .notReplayable)
    }

    @Test(arguments: [
        (3, "the body's source announced 3 bytes, but has more"),
        (5, "the body's source announced 5 bytes, but has only 4"),
    ])
    func failsIfTheSourceHasAnotherLength(_ byteCount: Int, _ detail: String) async throws {
        let body = RequestBody.stream(byteCount: byteCount) { Self.chunks(["ab", "cd"]) }
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 10) }
        #expect(error?.detail == detail)
    }

    @Test func cannotBeReadAsOnePiece() {
        let error = #expect(throws: ApiConnectorError.self) {
            try RequestBody.stream { Self.chunks([]) }.data()
        }
        #expect(error?.kind == .encodingFailed)
    }
}

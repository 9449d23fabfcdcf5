// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The one reader of a streamed response.
@Suite(.timeLimit(.minutes(10))) struct ElementSourceTests {}

extension ElementSourceTests {
    @Test func everyOtherReaderFailsAndTheFirstLosesNothing() async throws {
        let entered = Gate()
        let opened = Gate()
        let lines = try stream("a\nb\n")
        let source = ElementSource<String> { () throws(ApiConnectorError) in
            entered.open()
            do { try await opened.opened() } catch { throw ApiConnectorError(mapping: error) }
            return lines
        }
        let first = Task { try await source.nextBatch() }
        try await entered.opened()
        for _ in 0..<2 {
            let error = await #expect(throws: ApiConnectorError.self) { try await source.nextBatch() }
            #expect(error?.detail == "two tasks read one stream at the same time")
        }
        opened.open()
        #expect(try await first.value == ["a", "b"])
        #expect(try await source.nextBatch() == [])
    }

    @Test func aFunctionIsNotCalledAgainAfterItsError() async throws {
        let callCount = Locked(0)
        let source = UnfoldedSource<Int> { () throws(ApiConnectorError) in
            let count = callCount.withLock { count in
                count += 1
                return count
            }
            if count == 2 { throw ApiConnectorError(.stalled, "silence") }
            return count
        }
        #expect(try await source.nextBatch() == [1])
        await #expect(throws: ApiConnectorError.self) { try await source.nextBatch() }
        #expect(try await source.nextBatch() == [])
        #expect(callCount.withLock { $0 } == 2)
    }

    @Test func aCanceledTaskFindsTheEndOfAStreamThatIsOver() async throws {
        let lines = try stream("a\n")
        let source = ElementSource<String> { () throws(ApiConnectorError) in lines }
        #expect(try await source.nextBatch() == ["a"])
        #expect(try await source.nextBatch() == [])
        let batch = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await source.nextBatch()
        }
        #expect(try await batch.value == [])
    }

    @Test func theErrorOfACanceledStreamIsCompleteAndReleasesIt() async throws {
        var lines = try stream(String(repeating: "a\n", count: 2000))
        lines.completing = { $0.completed(request: nil, elapsed: .seconds(1)) }
        let released = Gate()
        lines.onFailure = { released.open() }
        let open = lines
        let source = ElementSource<String> { () throws(ApiConnectorError) in open }
        #expect(try await source.nextBatch().isEmpty == false)
        let batch = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await source.nextBatch()
        }
        let error = await #expect(throws: ApiConnectorError.self) { try await batch.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.elapsed == .seconds(1))
        try await released.opened()
    }

    private func stream(_ text: String) throws -> OpenStream<String> {
        let context = StreamContext(
            decoder: JSONDecoder(),
            maximumRecordByteCount: 1024,
            maximumBodyByteCount: 8192,
            wholeReader: JSONDecoder()
        )
        let body = ResponseBody(Data(text.utf8))
        return OpenStream(chunks: body.makeAsyncIterator(), parser: StreamFormat.lines.parser(context))
    }
}

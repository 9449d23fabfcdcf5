// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Bytes for the parsers, in memory and cut into chunks as a transport hands them out.
struct ParserInput: Sendable {
    let data: Data
    private let chunkByteCount: Int

    init(_ text: String, chunkByteCount: Int = 64 * 1024) {
        data = Data(text.utf8)
        self.chunkByteCount = chunkByteCount
    }

    /// The bytes as a body that comes chunk by chunk.
    var body: ResponseBody { ResponseBody(chunks: Chunks(data: data, byteCount: chunkByteCount)) }

    /// Reads every element, and how long that took, in seconds.
    ///
    /// - Throws: `WrongFixture` unless there were as many as were expected.
    @concurrent
    func seconds<Element: Sendable>(reading format: StreamFormat<Element>, expecting count: Int) async throws -> Double
    {
        let clock = ContinuousClock()
        let start = clock.now
        var received = 0
        for try await element in body.stream(as: format) {
            keep(element)
            received += 1
        }
        let elapsed = (clock.now - start).seconds
        guard received == count else { throw WrongFixture(description: "\(received) elements, not \(count)") }
        return elapsed
    }

    private struct Chunks: AsyncSequence, Sendable {
        let data: Data
        let byteCount: Int

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data, byteCount: byteCount) }

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: Data
            let byteCount: Int

            mutating func next() async -> Data? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(byteCount) }
                return rest.prefix(byteCount)
            }
        }
    }
}

/// A record of about 110 bytes of JSON, as the peers were measured with.
struct ParserRecord: Codable, Sendable {
    let id: Int
    let name: String
    let email: String
    let active: Bool
    let score: Double

    static func text(_ index: Int) -> String {
        #"{"id":\#(1_000_000 + index),"name":"Somebody Else","email":"somebody.else@example.com","active":true,"score":12.5}"#
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingSocks
import Foundation

/// Bytes that are generated chunk by chunk, as fast as they are read.
struct MadeBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    /// The maximum size of a chunk in bytes.
    static let pieceByteCount = 64 * 1024

    /// Makes the chunk with a number, counted from 0; nil at the end.
    let make: @Sendable (Int) async throws -> Data?

    func makeAsyncIterator() -> Iterator { Iterator(make: make) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let make: @Sendable (Int) async throws -> Data?
        private var count = 0
        private var rest = Data()

        init(make: @escaping @Sendable (Int) async throws -> Data?) {
            self.make = make
        }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            if rest.isEmpty {
                guard let piece = try await make(self.count) else { return nil }
                self.count += 1
                rest = piece
            }
            let buffer = rest.prefix(count)
            rest = Data(rest.dropFirst(count))
            return buffer
        }

        mutating func next() async throws -> UInt8? {
            try await nextBuffer(suggested: 1)?.first
        }
    }
}

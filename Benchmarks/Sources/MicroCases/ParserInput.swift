// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// Bytes for the parsers, in memory and in chunks as a transport delivers them.
package struct ParserInput: Sendable {
    package let data: Data
    private let chunkByteCount: Int

    package init(_ text: String, chunkByteCount: Int = 64 * 1024) {
        data = Data(text.utf8)
        self.chunkByteCount = chunkByteCount
    }

    /// The bytes as a body that arrives chunk by chunk.
    package var body: ResponseBody { ResponseBody(chunks: Chunks(data: data, byteCount: chunkByteCount)) }

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

extension Data {
    /// The bytes before each LF, in order, found by memchr(3).
    ///
    /// Bytes after the last LF are left out.
    @inline(__always)
    package func forEachLine(_ body: (Data) throws -> Void) rethrows {
        var start = 0
        while start < count, let end = newline(from: start) {
            try body(self[startIndex + start..<startIndex + end])
            start = end + 1
        }
    }

    private func newline(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 10, bytes.count - start) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }
}

/// The error for a fixture that differs from the expected fixture.
package struct WrongFixture: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Consumes a value, so that the compiler cannot remove the code that makes it.
@inline(never)
@_optimize(none)
package func keep<Value>(_ value: borrowing Value) {}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The bytes that a connection has received, but not used yet.
///
/// If bytes are missing, each `take` method returns nil and changes nothing.
struct LoopbackInput {
    private var bytes = Data()
    /// The number of bytes at the start that were already searched for the end of a line or head.
    ///
    /// They are not searched again.
    private var searchedCount = 0

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ received: Data) {
        bytes.append(received)
    }

    /// Takes a head with the empty line at its end.
    ///
    /// Empty lines before the head are dropped (RFC 9112, section 2.2).
    mutating func takeHead() -> Data? {
        var emptyCount = 0
        while bytes.dropFirst(emptyCount).starts(with: Data("\r\n".utf8)) { emptyCount += 2 }
        if emptyCount > 0 { _ = take(emptyCount) }
        return take(through: Data("\r\n\r\n".utf8))
    }

    /// Takes a line without its line end.
    mutating func takeLine() -> String? {
        take(through: Data("\r\n".utf8)).map { String(decoding: $0.dropLast(2), as: UTF8.self) }
    }

    mutating func take(_ count: Int) -> Data? {
        guard bytes.count >= count else { return nil }
        searchedCount = 0
        defer { bytes = Data(bytes.dropFirst(count)) }
        return Data(bytes.prefix(count))
    }

    private mutating func take(through end: Data) -> Data? {
        let start = bytes.startIndex + max(searchedCount - end.count + 1, 0)
        guard let range = bytes.range(of: end, in: start..<bytes.endIndex) else {
            searchedCount = bytes.count
            return nil
        }
        return take(range.upperBound - bytes.startIndex)
    }
}

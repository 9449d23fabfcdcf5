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
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders {
    /// The elements of a list that one field or several fields hold (RFC 9110, section 5.6.1), in order.
    ///
    /// A comma in quoted text separates nothing. Empty elements are left out.
    public func elements(_ name: Name) -> [String] {
        values(name).flatMap { $0.parts(between: ",") }
    }
}

extension StringProtocol {
    /// The parts between separators that stand in no quoted text, without blanks round them; empty ones are left out.
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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A request as a loopback connection has read it.
package struct LoopbackRequest: Sendable {
    /// The method, spelled as it was sent.
    package let method: String

    /// The request target, byte for byte.
    ///
    /// In most requests it is the path and the query.
    package let target: String

    /// The header fields in the order in which they came.
    package let headers: [(name: String, value: String)]

    /// The request line and the header fields, including the line ends and the empty line.
    ///
    /// It is decoded as UTF-8 if the bytes are valid UTF-8, otherwise as ISO 8859-1.
    package let head: String

    /// The body without its transfer coding; empty if only the head was read.
    package internal(set) var body = Data()

    /// The index of the request's connection, counted from 0 in order of acceptance.
    package let connection: Int

    /// Returns the value of the first header field of this name, ignoring case.
    package func header(_ name: String) -> String? {
        headers(named: name).first
    }

    /// Returns the values of all header fields of this name, ignoring case, in order.
    package func headers(named name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Returns whether a comma-separated header field lists this token, ignoring case.
    package func lists(_ token: String, in name: String) -> Bool {
        headers(named: name)
            .flatMap { $0.split(separator: ",") }
            .contains { $0.trimmingCharacters(in: .whitespaces).lowercased() == token }
    }
}

extension LoopbackRequest {
    /// Parses a head that ends in an empty line.
    init(head bytes: Data, connection: Int) throws {
        let head = String(data: bytes, encoding: .utf8) ?? String(data: bytes, encoding: .isoLatin1) ?? ""
        // CR LF is one `Character` in Swift, so this splits only at line ends.
        var lines = head.split(separator: "\r\n" as Character, omittingEmptySubsequences: true)[...]
        let parts = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else {
            throw LoopbackError.malformedRequest("its first line is \(parts.joined(separator: " ").debugDescription)")
        }
        method = String(parts[0])
        target = String(parts[1])
        headers = try lines.map { line in
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw LoopbackError.malformedRequest("the header line \(line.debugDescription) has no name")
            }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (name: String(line[..<colon]), value: value)
        }
        self.head = head
        self.connection = connection
    }
}

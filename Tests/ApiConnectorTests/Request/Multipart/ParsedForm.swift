// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A form in parts as a server reads it: by its boundary, each head and body apart.
struct ParsedForm: Equatable {
    struct Part: Equatable {
        /// The lines of the head as they came.
        var head: [String]
        var body: Data
    }

    var parts: [Part] = []

    /// Reads a form; nil if the data is not one.
    init?(_ data: Data, contentType: String?) {
        guard let type = contentType.flatMap({ MediaType($0) }), type.type == "multipart",
            let boundary = type[parameter: "boundary"]
        else { return nil }
        // With the line break of its own before it, the first delimiter is like all others.
        var rest = Data("\r\n".utf8) + data
        let delimiter = Data("\r\n--\(boundary)".utf8)
        guard let first = rest.firstRange(of: delimiter), first.lowerBound == rest.startIndex else { return nil }
        rest = Data(rest[first.upperBound...])
        while rest.starts(with: Data("\r\n".utf8)) {
            guard let end = rest.firstRange(of: delimiter),
                let blank = rest.firstRange(of: Data("\r\n\r\n".utf8)), blank.lowerBound < end.lowerBound
            else { return nil }
            let head = rest[(rest.startIndex + 2)..<blank.lowerBound]
            let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
            parts.append(Part(head: lines, body: Data(rest[blank.upperBound..<end.lowerBound])))
            rest = Data(rest[end.upperBound...])
        }
        guard rest == Data("--\r\n".utf8) else { return nil }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension RecordedRequest {
    /// One part of a `multipart/form-data` body, as it was sent.
    public struct Part: Sendable {
        /// The field's name.
        public let name: String

        /// The file's name; nil for a field that is not a file.
        public let fileName: String?

        /// The part's media type; nil if it has none.
        public let mediaType: MediaType?

        /// The content.
        public let body: Data

        /// The content as UTF-8 text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The parts of a `multipart/form-data` body, in order; empty for another body.
    public var parts: [Part] {
        guard let type = mediaType, type.matches(MediaType("multipart", "form-data")),
            let boundary = type.parameters.first(where: { $0.name.lowercased() == "boundary" })?.value
        else { return [] }
        let lineBreak = Data("\r\n".utf8)
        let delimiter = lineBreak + Data("--\(boundary)".utf8)
        // A delimiter includes the line break before it. The first delimiter has none, so it is added.
        var rest = lineBreak + body
        var parts: [Part] = []
        guard let start = rest.range(of: delimiter) else { return [] }
        rest = rest[start.upperBound...]
        while !rest.starts(with: Data("--".utf8)), let end = rest.range(of: delimiter) {
            if let part = Part(parsing: rest[rest.startIndex..<end.lowerBound].dropFirst(2)) { parts.append(part) }
            rest = rest[end.upperBound...]
        }
        return parts
    }
}

extension RecordedRequest.Part {
    /// Parses the bytes between two delimiters; nil if the part has no name.
    fileprivate init?(parsing bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[bytes.startIndex..<end.lowerBound], as: UTF8.self)
        var fields: [String: String] = [:]
        for line in head.components(separatedBy: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let disposition = fields["content-disposition"] ?? ""
        func parameter(_ name: String) -> String? {
            guard let start = disposition.range(of: "; \(name)=\"") else { return nil }
            // The quotes and line breaks of a name are escaped.
            let text = String(disposition[start.upperBound...].prefix { $0 != "\"" })
            return text.replacing("%22", with: "\"").replacing("%0D%0A", with: "\r\n")
        }
        guard let name = parameter("name") else { return nil }
        self.name = name
        fileName = parameter("filename")
        mediaType = fields["content-type"].flatMap { MediaType($0) }
        body = Data(bytes[end.upperBound...])
    }
}

extension RequestMatcher {
    /// Matches a `multipart/form-data` body with exactly one part of this name, if that part has this text.
    ///
    /// Other parts may be present.
    ///
    /// To check files' names and types, use ``RecordedRequest/parts``.
    public static func part(_ name: String, _ text: String) -> RequestMatcher {
        let isSecret = Redactor.standard.isSecret(queryItem: name)
        return RequestMatcher(".part(\(code(name)), \(code(text, isSecret)))", .part(name, text)) { sent in
            let texts = sent.parts.filter { $0.name == name }.map(\.text)
            guard texts != [text] else { return [] }
            let shown = texts.isEmpty ? nil : texts.joined(separator: "\", \"")
            return [Difference("part \(name)", wanted: text, sent: shown, isSecret: isSecret)]
        }
    }
}

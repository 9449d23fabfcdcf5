// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A path with parameters in braces.
struct DocumentedPath: Sendable {
    fileprivate enum Piece: Sendable, Equatable {
        case literal(String)
        case parameter(String)
    }

    /// The path as the document writes it.
    let text: String
    let segments: [Segment]
    /// The query items that the document writes into the path itself.
    let fixedItems: [ParameterReader.Item]

    /// The part of a path between two slashes.
    struct Segment: Sendable {
        fileprivate let pieces: [Piece]
        var isLiteral: Bool { pieces.allSatisfy { if case .literal = $0 { true } else { false } } }
    }

    init(_ text: String) {
        self.text = text
        let path = text.prefix { $0 != "?" && $0 != "#" }
        segments = Self.segments(String(path)).map { Segment(pieces: Self.pieces(of: $0)) }
        let rest = text.dropFirst(path.count).prefix { $0 != "#" }
        // `q={q}` is an item whose value is a parameter.
        fixedItems = ParameterReader.Item.all(in: String(rest.drop { $0 == "?" })).filter { !$0.raw.hasPrefix("{") }
    }

    /// Makes the path of a server's URL, which may be relative and have variables.
    init(ofServer url: String) {
        var path = url[...]
        if let scheme = path.range(of: "://") {
            path = path[scheme.upperBound...]
            path = path.firstIndex(of: "/").map { path[$0...] } ?? ""
        }
        while path.hasSuffix("/") { path = path.dropLast() }
        self.init(String(path))
    }

    /// The segments of a path, percent-encoded; none for an empty path.
    static func segments(_ path: String) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return parts.first == "" ? Array(parts.dropFirst()) : parts
    }

    private static func pieces(of segment: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = segment[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
            pieces.append(.parameter(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty || pieces.isEmpty { pieces.append(.literal(String(rest))) }
        return pieces
    }

    /// The values of the parameters, percent-encoded; nil if the segments do not match this path.
    func values(of path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            guard Self.read(segment.pieces[...], text[...], &values) else { return nil }
        }
        return values
    }

    private static func read(_ pieces: ArraySlice<Piece>, _ text: Substring, _ values: inout [String: String]) -> Bool {
        guard let piece = pieces.first else { return text.isEmpty }
        let rest = pieces.dropFirst()
        switch piece {
        case .literal(let literal):
            if text.hasPrefix(literal) { return read(rest, text.dropFirst(literal.count), &values) }
            // The request may percent-encode a character that the document writes unencoded.
            let decoded = text.removingPercentEncoding ?? String(text)
            return decoded.hasPrefix(literal) && read(rest, decoded.dropFirst(literal.count), &values)
        case .parameter(let name):
            guard case .literal(let literal)? = rest.first else {
                // Of two adjacent parameters, the second one begins with the mark of its style, or has only one
                // character.
                let mark = rest.isEmpty ? nil : text.dropFirst().firstIndex { ".;".contains($0) } ?? text.indices.last
                values[name] = String(text[..<(mark ?? text.endIndex)])
                return rest.isEmpty ? !text.isEmpty : read(rest, text[(mark ?? text.endIndex)...], &values)
            }
            guard let range = text.range(of: literal, options: rest.count <= 2 ? .backwards : []) else { return false }
            values[name] = String(text[..<range.lowerBound])
            return read(rest.dropFirst(), text[range.upperBound...], &values)
        }
    }

    /// Whether this path takes precedence for a request that matches both paths.
    func isMoreSpecific(than other: DocumentedPath) -> Bool {
        for (own, others) in zip(segments, other.segments) where own.isLiteral != others.isLiteral {
            return own.isLiteral
        }
        return (segments.count, fixedItems.count) > (other.segments.count, other.fixedItems.count)
    }
}

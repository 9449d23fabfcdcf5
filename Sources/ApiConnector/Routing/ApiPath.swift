// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A path made of the router's own text and of values that cannot leave their segment.
///
/// Written as a string literal. Every interpolated value is percent-encoded down to RFC 3986's unreserved characters,
/// a slash in it included; the literal's own text keeps what RFC 3986 allows in a path, and `?`, `#` and `%` in it are
/// data.
///
/// ```swift
/// let path: ApiPath = "/authors/\(author)/posts/\(slug)"
/// ```
///
/// A `String` variable is not a path: say whether it is one segment or text that is encoded already.
public struct ApiPath: Sendable {
    /// A piece of the path, encoded when it is written.
    @usableFromInline struct Part: Sendable {
        @usableFromInline enum Kind: Sendable {
            /// The router's own text, not encoded yet.
            case text
            /// Text that is encoded already.
            case encoded
            /// A value, not encoded yet.
            case value
        }

        @usableFromInline let text: String
        @usableFromInline let kind: Kind

        @inlinable init(_ text: String, _ kind: Kind) {
            self.text = text
            self.kind = kind
        }
    }

    /// The router's own text in front, not encoded yet; beside the rest, for many a path has nothing else.
    @usableFromInline var start: String

    /// What comes behind it.
    @usableFromInline var parts: [Part]

    @inlinable init(start: String = "", parts: [Part] = []) {
        self.start = start
        self.parts = parts
    }

    /// Makes a path of one segment, whatever the text holds.
    public init(segment: String) {
        self.init(start: "/", parts: [Part(segment, .value)])
    }

    /// Takes a path that is percent-encoded already, such as one that a server sent.
    ///
    /// Characters that no path may hold, `?` and `#` among them, and a `%` that starts no escape are encoded after all.
    public init(alreadyEncoded text: String) {
        self.init(parts: [Part(PercentEncoding.complete(text, keeping: .pathText), .encoded)])
    }

    /// Takes plain text, split at its slashes alone.
    @inlinable init(text: String) {
        self.init(start: text)
    }

    /// The path with `{}` for each value, and for each text that came encoded: it may hold values.
    var template: String {
        ByteWriter.text { writer in
            writer.write(start, keeping: .pathText)
            for part in parts {
                if part.kind == .text { writer.write(part.text, keeping: .pathText) } else { writer.write("{}") }
            }
        }
    }

    /// Whether a value that is a whole segment is empty.
    var hasEmptyValue: Bool {
        guard parts.contains(where: { $0.kind == .value && $0.text.isEmpty }) else { return false }
        var startsSegment = start.isEmpty || start.hasSuffix("/")
        var isEmpty = false
        for part in parts {
            if part.kind == .value, part.text.isEmpty {
                isEmpty = startsSegment
            } else if part.kind != .value, isEmpty, part.text.hasPrefix("/") {
                return true
            } else {
                isEmpty = false
                startsSegment = part.kind != .value && part.text.hasSuffix("/")
            }
        }
        return isEmpty
    }

    /// Whether a slash has to be written in front: the path has text, and no slash of the router's begins it.
    var needsSlash: Bool {
        if let first = start.utf8.first { return first != UInt8(ascii: "/") }
        for part in parts {
            if part.kind == .value { return true }
            if let first = part.text.utf8.first { return first != UInt8(ascii: "/") }
        }
        return false
    }

    /// The writer with the encoded path behind what it holds.
    func written(to writer: ByteWriter) -> ByteWriter {
        var writer = writer
        writer.write(start, keeping: .pathText)
        // By index: an iterator would hold on to the parts.
        for index in parts.indices {
            let part = parts[index]
            if part.kind == .encoded {
                writer.write(part.text)
            } else {
                writer.write(part.text, keeping: part.kind == .value ? .unreserved : .pathText)
            }
        }
        return writer
    }
}

extension ApiPath: ExpressibleByStringInterpolation {
    /// Makes a path without values.
    @inlinable public init(stringLiteral text: String) {
        self.init(text: text)
    }

    /// Makes a path of a literal with values.
    @inlinable public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.path
    }

    /// Collects a literal's text and values.
    public struct StringInterpolation: StringInterpolationProtocol {
        @usableFromInline var path: ApiPath

        /// Makes room for a literal.
        @inlinable public init(literalCapacity: Int, interpolationCount: Int) {
            path = ApiPath()
            path.parts.reserveCapacity(2 * interpolationCount)
        }

        /// Adds the router's own text.
        @inlinable @inline(__always) public mutating func appendLiteral(_ literal: String) {
            guard !literal.isEmpty else { return }
            if path.start.isEmpty, path.parts.isEmpty {
                path.start = literal
            } else {
                path.parts.append(Part(literal, .text))
            }
        }

        /// Adds a value as a part of one segment.
        @inlinable public mutating func appendInterpolation(_ value: String) {
            path.parts.append(Part(value, .value))
        }

        /// Adds a value that may be empty.
        ///
        /// A connection refuses a route with any other empty value that would be a whole segment, because
        /// `/posts/\(id)` without an `id` is the path of another resource.
        public mutating func appendInterpolation(allowingEmpty value: String) {
            if !value.isEmpty { appendInterpolation(value) }
        }

        /// Adds the description of a value, such as a number's or a UUID's, as a part of one segment.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Adds the raw value of an enum's case, as a part of one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String>>(_ value: Value) {
            appendInterpolation(value.rawValue)
        }

        /// Adds the raw value of an enum's case that has a description besides, as a part of one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String> & CustomStringConvertible>(
            _ value: Value
        ) {
            appendInterpolation(value.rawValue)
        }

        /// Adds a path, its slashes included.
        public mutating func appendInterpolation(_ other: ApiPath) {
            appendLiteral(other.start)
            path.parts += other.parts
        }
    }
}

extension ApiPath: CustomStringConvertible {
    /// The encoded path.
    public var description: String {
        ByteWriter.text { $0 = written(to: $0) }
    }
}

extension ApiPath: Hashable {
    /// Compares the encoded paths: a value and the same text in a literal are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.description == right.description
    }

    /// Hashes the encoded path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(description)
    }
}

extension ApiPath: ApiPathConvertible {
    /// The path itself.
    @inlinable public var apiPath: ApiPath { self }
}

extension String: ApiPathConvertible {
    /// The text as a path, split at its slashes alone.
    ///
    /// A value in the text is not encoded. A connection refuses a route whose text has an empty segment, `//`.
    @inlinable public var apiPath: ApiPath { ApiPath(text: self) }
}

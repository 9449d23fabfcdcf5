// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A path made of the router's own text and of values that cannot leave their segment.
///
/// Write it as a string literal:
///
/// - Interpolated values are percent-encoded, including slashes. Only the unreserved characters of RFC 3986 stay.
/// - In the literal's own text, the characters that RFC 3986 allows in a path stay. `?`, `#` and `%` are data, and are
///   encoded.
///
/// ```swift
/// let path: ApiPath = "/authors/\(author)/posts/\(slug)"
/// ```
///
/// A connection refuses a path with a segment `.` or `..`. This includes a value such as `../admin`, because some
/// servers decode a path before they resolve its dots.
///
/// A `String` variable is not a path: use ``init(segment:)`` for one segment, or ``init(alreadyEncoded:)`` for encoded
/// text.
public struct ApiPath: Sendable {
    /// A part of the path.
    ///
    /// Its text is encoded when the path is written, unless it is already encoded.
    @usableFromInline struct Part: Sendable {
        @usableFromInline enum Kind: Sendable {
            /// The router's own text, not encoded.
            case text
            /// Encoded text.
            case encoded
            /// A value, not encoded.
            case value
        }

        @usableFromInline let text: String
        @usableFromInline let kind: Kind

        @inlinable init(_ text: String, _ kind: Kind) {
            self.text = text
            self.kind = kind
        }
    }

    /// The router's own text at the start, not encoded.
    ///
    /// It is stored separately, because many paths have no other parts.
    @usableFromInline var start: String

    /// The parts after the start.
    @usableFromInline var parts: [Part]

    @inlinable init(start: String = "", parts: [Part] = []) {
        self.start = start
        self.parts = parts
    }

    /// Makes a path of one segment with any text.
    public init(segment: String) {
        self.init(start: "/", parts: [Part(segment, .value)])
    }

    /// Makes a path from percent-encoded text, for example from a server.
    ///
    /// Characters that paths cannot have, including `?` and `#`, and a `%` that does not start an escape are still
    /// encoded.
    public init(alreadyEncoded text: String) {
        self.init(parts: [Part(PercentEncoding.complete(text, keeping: .pathText), .encoded)])
    }

    /// Makes a path from plain text, in which slashes separate the segments.
    @inlinable init(text: String) {
        self.init(start: text)
    }

    /// The path with `{}` for each value, and also for each encoded text, which may contain values.
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

    /// Whether a leading slash is missing: the path is not empty and does not begin with a slash in the router's own
    /// text.
    var needsSlash: Bool {
        if let first = start.utf8.first { return first != UInt8(ascii: "/") }
        for part in parts {
            if part.kind == .value { return true }
            if let first = part.text.utf8.first { return first != UInt8(ascii: "/") }
        }
        return false
    }

    /// The writer with the encoded path appended.
    func written(to writer: ByteWriter) -> ByteWriter {
        var writer = writer
        writer.write(start, keeping: .pathText)
        // By index, because an iterator would retain the parts.
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

    /// Makes a path from a literal with values.
    @inlinable public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.path
    }

    /// Collects the text and the values of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        @usableFromInline var path: ApiPath

        /// Reserves capacity for a literal.
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

        /// Adds a value within one segment.
        @inlinable public mutating func appendInterpolation(_ value: String) {
            path.parts.append(Part(value, .value))
        }

        /// Adds a value that may be empty.
        ///
        /// For any other empty value that would be a whole segment, a connection refuses the route, because
        /// `/posts/\(id)` without an `id` is the path of another resource.
        public mutating func appendInterpolation(allowingEmpty value: String) {
            if !value.isEmpty { appendInterpolation(value) }
        }

        /// Adds the description of a value, such as a number or a UUID, within one segment.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Adds the raw value of an enum case within one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String>>(_ value: Value) {
            appendInterpolation(value.rawValue)
        }

        /// Adds the raw value of an enum case that also has a description, within one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String> & CustomStringConvertible>(
            _ value: Value
        ) {
            appendInterpolation(value.rawValue)
        }

        /// Adds a path, including its slashes.
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
    /// Compares the encoded paths: a value equals the same text in a literal.
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
    /// The text as a path, in which slashes separate the segments.
    ///
    /// Values in the text are not encoded separately. A connection refuses a route whose text has an empty segment,
    /// `//`.
    @inlinable public var apiPath: ApiPath { ApiPath(text: self) }
}

/// A type that a router can use for its path: ``ApiPath`` or `String`.
public protocol ApiPathConvertible {
    /// The value as a path.
    var apiPath: ApiPath { get }
}

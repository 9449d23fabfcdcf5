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
    fileprivate enum Part: Sendable {
        /// The router's own text, not encoded yet.
        case text(String)
        /// Text that is encoded already.
        case encoded(String)
        /// A value, not encoded yet.
        case value(String)
    }

    private var parts: [Part]

    private init(parts: [Part]) {
        self.parts = parts
    }

    /// Makes a path of one segment, whatever the text holds.
    public init(segment: String) {
        parts = [.text("/"), .value(segment)]
    }

    /// Takes a path that is percent-encoded already, such as one that a server sent.
    ///
    /// Characters that no path may hold, `?` and `#` among them, and a `%` that starts no escape are encoded after all.
    public init(alreadyEncoded text: String) {
        parts = [.encoded(PercentEncoding.complete(text, keeping: .pathText))]
    }

    /// Takes plain text, split at its slashes alone.
    init(text: String) {
        parts = [.text(text)]
    }

    /// The path with `{}` for each value, and for each text that came encoded: it may hold values.
    var template: String {
        ByteWriter.text { writer in
            for part in parts {
                if case .text = part { part.write(to: &writer) } else { writer.write("{}") }
            }
        }
    }

    /// Whether a slash has to be written in front: the path has text, and no slash of the router's begins it.
    var needsSlash: Bool {
        for part in parts {
            switch part {
            case .value: return true
            case .text(let text), .encoded(let text):
                if let first = text.utf8.first { return first != UInt8(ascii: "/") }
            }
        }
        return false
    }

    /// Whether it may hold any escape, and not only those that we write.
    var isEncoded: Bool {
        parts.contains { if case .encoded = $0 { true } else { false } }
    }

    /// Writes the encoded path.
    func write(to writer: inout ByteWriter) {
        for part in parts { part.write(to: &writer) }
    }
}

extension ApiPath.Part {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .text(let text): writer.write(text, keeping: .pathText)
        case .encoded(let text): writer.write(text)
        case .value(let value): writer.write(value, keeping: .unreserved)
        }
    }
}

extension ApiPath: ExpressibleByStringInterpolation {
    /// Makes a path without values.
    public init(stringLiteral text: String) {
        self.init(text: text)
    }

    /// Makes a path of a literal with values.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.path
    }

    /// Collects a literal's text and values.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path: ApiPath

        /// Makes room for a literal.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path = ApiPath(parts: [])
            path.parts.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Adds the router's own text.
        public mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { path.parts.append(.text(literal)) }
        }

        /// Adds a value as a part of one segment.
        public mutating func appendInterpolation(_ value: String) {
            path.parts.append(.value(value))
        }

        /// Adds the description of a value, such as a number's or a UUID's, as a part of one segment.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            path.parts.append(.value(value.description))
        }

        /// Adds the raw value of an enum's case, as a part of one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String>>(_ value: Value) {
            path.parts.append(.value(value.rawValue))
        }

        /// Adds the raw value of an enum's case that has a description besides, as a part of one segment.
        public mutating func appendInterpolation<Value: RawRepresentable<String> & CustomStringConvertible>(
            _ value: Value
        ) {
            path.parts.append(.value(value.rawValue))
        }

        /// Adds a path, its slashes included.
        public mutating func appendInterpolation(_ other: ApiPath) {
            path.parts += other.parts
        }
    }
}

extension ApiPath: CustomStringConvertible {
    /// The encoded path.
    public var description: String {
        ByteWriter.text(write)
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

/// What a router may write its path as: ``ApiPath``, or `String` as in the library of 2016.
public protocol ApiPathConvertible {
    /// The path, encoded.
    var apiPath: ApiPath { get }
}

extension ApiPath: ApiPathConvertible {
    /// The path itself.
    public var apiPath: ApiPath { self }
}

extension String: ApiPathConvertible {
    /// The text as a path, split at its slashes alone.
    public var apiPath: ApiPath { ApiPath(text: self) }
}

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
    /// The encoded path, with a ``Mark`` on both sides of each value.
    private var bytes: [UInt8]

    /// Bytes that no encoded text holds.
    private enum Mark {
        static let value: UInt8 = 0
        static let encoded: UInt8 = 1
        static let all = value...encoded
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path of one segment, whatever the text holds.
    public init(segment: String) {
        bytes = [UInt8(ascii: "/")]
        append(segment, keeping: .unreserved, between: Mark.value)
    }

    /// Takes a path that is percent-encoded already, such as one that a server sent.
    ///
    /// Characters that no path may hold, `?` and `#` among them, and a `%` that starts no escape are encoded after all.
    public init(alreadyEncoded text: String) {
        bytes = []
        append(PercentEncoding.complete(text, keeping: .pathText), keeping: nil, between: Mark.encoded)
    }

    /// Takes plain text, split at its slashes alone.
    init(text: String) {
        bytes = []
        bytes.append(text, keeping: .pathText)
    }

    private mutating func append(_ text: String, keeping kept: ByteSet?, between mark: UInt8) {
        bytes.append(mark)
        bytes.append(text, keeping: kept)
        bytes.append(mark)
    }

    /// The path with `{}` for each value, and for each text that came encoded: it may hold values.
    var template: String {
        var rest = bytes[...]
        var text: [UInt8] = []
        while let start = rest.firstIndex(where: Mark.all.contains) {
            text += rest[..<start]
            text += Array("{}".utf8)
            let value = rest[(start + 1)...]
            rest = value[(value.firstIndex(of: rest[start]) ?? value.endIndex)...].dropFirst()
        }
        return String(decoding: text + rest, as: UTF8.self)
    }

    /// Whether a slash has to be written in front: the path has text, and no slash of the router's begins it.
    var needsSlash: Bool {
        let first = bytes.first { $0 != Mark.encoded }
        return first != nil && first != UInt8(ascii: "/")
    }

    /// Whether it may hold any escape, and not only those that we write.
    var isEncoded: Bool {
        bytes.contains(Mark.encoded)
    }

    /// Writes the encoded path.
    func write(to writer: inout ByteWriter) {
        writer.write(bytes, leavingOut: Mark.all)
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
            path = ApiPath(bytes: [])
            path.bytes.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Adds the router's own text.
        public mutating func appendLiteral(_ literal: String) {
            path.bytes.append(literal, keeping: .pathText)
        }

        /// Adds a value as a part of one segment.
        public mutating func appendInterpolation(_ value: String) {
            path.append(value, keeping: .unreserved, between: Mark.value)
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
            path.bytes += other.bytes
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
    @inlinable public var apiPath: ApiPath { self }
}

extension String: ApiPathConvertible {
    /// The text as a path, split at its slashes alone.
    public var apiPath: ApiPath { ApiPath(text: self) }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The text of a route's URL.
struct URLText {
    let text: String

    /// The first segment that is `.` or `..`, and where it stands; nil where there is none.
    let dots: (part: String, segment: String)?

    init(scheme: HTTPScheme, host: String, port: Int?, basePath: String, path: ApiPath, query: [URLQueryItem]) {
        let basePath = basePath.isEmpty ? nil : ApiPath(text: basePath)
        var dots: (String, String)?
        text = ByteWriter.text { writer in
            writer.write(scheme.rawValue)
            writer.write("://")
            writer.write(host)
            if let port, port >= 0 {
                writer.write(UInt8(ascii: ":"))
                writer.write(port)
            }
            if let basePath {
                let start = writer.count
                if let segment = writer.write(basePath) { dots = ("the environment's base path", segment) }
                let slashCount = writer.bytes[start...].reversed().prefix { $0 == slash }.count
                writer.truncate(to: writer.count - slashCount)
            }
            if let segment = writer.write(path) { dots = dots ?? ("its path", segment) }
            writer.write(query)
        }
        self.dots = dots
    }
}

private let slash = UInt8(ascii: "/")

extension ByteWriter {
    fileprivate mutating func write(_ number: Int) {
        if number >= 10 { write(number / 10) }
        write(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// Writes names and values, every byte outside RFC 3986's "unreserved" encoded; nothing where there are none.
    fileprivate mutating func write(_ query: [URLQueryItem]) {
        var separator = UInt8(ascii: "?")
        for item in query {
            write(separator)
            separator = UInt8(ascii: "&")
            write(item.name, keeping: .unreserved)
            guard let value = item.value else { continue }
            write(UInt8(ascii: "="))
            write(value, keeping: .unreserved)
        }
    }

    /// Writes a path, a slash in front, and the dots of a segment that is `.` or `..` as `%2E`.
    ///
    /// - Returns: The first such segment.
    fileprivate mutating func write(_ path: ApiPath) -> String? {
        let start = count
        if path.needsSlash { write(slash) }
        path.write(to: &self)
        guard path.isEncoded || contains(UInt8(ascii: "."), from: start), let first = firstDots(from: start) else {
            return nil
        }
        let segments = bytes[start...].split(separator: slash, omittingEmptySubsequences: false).map { segment in
            Self.dots(in: segment)?.replacing(".", with: "%2E") ?? String(decoding: segment, as: UTF8.self)
        }
        truncate(to: start)
        write(segments.joined(separator: "/"))
        return first
    }

    /// The first segment that is `.` or `..`, in a path that starts with a slash or is empty.
    private func firstDots(from start: Int) -> String? {
        for index in start..<count where bytes[index] == slash {
            if let dots = Self.dots(in: bytes[(index + 1)...].prefix(7).prefix { $0 != slash }) { return dots }
        }
        return nil
    }

    /// `.` or `..` where a segment is that, however it is spelled.
    private static func dots(in segment: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        guard segment.count <= 6, let first = segment.first else { return nil }
        guard first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else { return nil }
        return switch String(decoding: segment, as: UTF8.self).uppercased() {
        case ".", "%2E": "."
        case "..", ".%2E", "%2E.", "%2E%2E": ".."
        default: nil
        }
    }
}

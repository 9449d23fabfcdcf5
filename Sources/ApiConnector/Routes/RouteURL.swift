// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A route's URL, and why it must not be sent if it is invalid.
@usableFromInline struct RouteURL {
    @usableFromInline let url: URL

    /// The invalid part and how to fix it; nil for a valid URL.
    let flaw: String?

    /// The router's query; the URL has no query if its value does not encode.
    private let query: ApiQuery

    /// Reads the router and the environment.
    ///
    /// For `value(_:at:)`, this happens in the user's module, where their types are known. Other calls read them through
    /// their protocols, which takes a third of the time of building the URL.
    ///
    /// - Parameter encoder: Writes the dates in the query; nil, the default, writes them in ISO 8601.
    @inlinable init<Router: ApiRouter>(
        of route: Router,
        in environment: Router.EnvironmentType,
        datesBy encoder: JSONEncoder? = nil
    ) {
        self.init(
            scheme: environment.scheme,
            host: environment.host,
            port: environment.port,
            basePath: environment.basePath,
            path: route.path.apiPath,
            isPathText: Router.PathType.self == String.self,
            query: ApiQuery(property: route.queryItems),
            datesBy: encoder
        )
    }

    @usableFromInline init(
        scheme: HTTPScheme,
        host: String,
        port: Int?,
        basePath: String,
        path: ApiPath,
        isPathText: Bool,
        query: ApiQuery,
        datesBy encoder: JSONEncoder?
    ) {
        self.query = if let encoder, query.isDated { query.written(with: encoder) } else { query }
        let text = URLText(
            scheme: scheme,
            host: host,
            port: port,
            basePath: basePath,
            path: path,
            query: self.query.urlQuery
        )
        // The text only contains characters allowed in URLs, so the file URL is never used.
        url = URL(string: text.text) ?? URL(fileURLWithPath: "/")
        if let hostFlaw = text.hostFlaw {
            flaw = hostFlaw
        } else if let port, !(1...65535 ~= port) {
            flaw = "the environment's port \(port) is not valid; use 1 to 65535, or nil to leave it out"
        } else if let dots = text.dots {
            flaw = "\(dots.part) has a segment \"\(dots.segment)\", which servers resolve to another path"
        } else if path.hasEmptyValue {
            flaw =
                "a value in its path is empty, which makes the path that of another resource; write \\(allowingEmpty:) "
                + "if that is intended"
        } else if isPathText, path.start.hasEmptySegment {
            // In plain text, a value cannot be distinguished from the router's own text.
            flaw =
                "its path \"\(path.start)\" has an empty segment, probably from an empty value; declare path as "
                + "ApiPath, which encodes values and allows \"//\""
        } else {
            flaw = nil
        }
    }

    /// The URL of a route.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` with the route and the invalid part; of kind
    ///   `.encodingFailed` if the query's value does not encode.
    func checked(for route: some ApiRouter) throws(ApiConnectorError) -> URL {
        func request() -> ApiRequest {
            ApiRequest(url: url, method: HTTPMethod(property: route.method) ?? .get, route: route)
        }
        if let flaw {
            throw ApiConnectorError(.invalidRequest, at: .url, "route \(route.routeName): \(flaw)", request: request())
        }
        if let error = query.error {
            // A property of an unusable type has this kind.
            throw error.kind == .invalidRequest
                ? .unusable(property: error.detail, of: route, url, at: .url) : error.completed(request: request())
        }
        return url
    }
}

extension String {
    /// Whether two slashes follow each other.
    ///
    /// Foundation's `contains(_:)` would take as long as all other steps of building a route's URL.
    fileprivate var hasEmptySegment: Bool {
        var isAfterSlash = false
        for byte in utf8 {
            let isSlash = byte == UInt8(ascii: "/")
            if isSlash, isAfterSlash { return true }
            isAfterSlash = isSlash
        }
        return false
    }
}

/// The text of a route's URL, and its parts that a connection refuses.
struct URLText {
    /// A query as items or as encoded text.
    enum Query {
        case items([URLQueryItem])
        case encoded(String)
    }

    let text: String

    /// Why nothing may be sent to the host; nil for a plain host name.
    let hostFlaw: String?

    /// The first segment that is `.` or `..`, and the part that contains it; nil if there is none.
    ///
    /// A segment also ends at an encoded slash or backslash.
    let dots: (part: String, segment: String)?

    @inline(__always)
    init(scheme: HTTPScheme, host: String, port: Int?, basePath: String, path: ApiPath, query: Query) {
        var hostFlaw: String?
        var dots: (String, String)?
        text = ByteWriter.text { writer in
            switch scheme {
            case .http: writer.write("http://")
            case .https: writer.write("https://")
            }
            if !writer.write(host, ifAllIn: .plainHost) {
                let host = EncodedHost(host)
                writer.write(host.text)
                hostFlaw = host.flaw
            }
            if let port, port >= 0 {
                writer.write(UInt8(ascii: ":"))
                writer.write(port)
            }
            if !basePath.isEmpty {
                let written = writer.appending(basePath: basePath)
                writer = written.writer
                dots = written.dots.map { ("the environment's base path", $0) }
            }
            if let segment = writer.write(path) { dots = dots ?? ("its path", segment) }
            switch query {
            case .items(let items): writer.write(items)
            case .encoded(let text):
                writer.write(UInt8(ascii: "?"))
                writer.write(text)
            }
        }
        self.hostFlaw = hostFlaw
        self.dots = dots
    }
}

private let slash = UInt8(ascii: "/")

extension ByteWriter {
    /// Writes names and values, and encodes every byte except RFC 3986's "unreserved" characters; writes nothing if
    /// there are no items.
    @inline(__always)
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

    /// Writes a path with a leading slash, and writes the dots of segments that are `.` or `..` as `%2E`.
    ///
    /// - Returns: The first such segment.
    @inline(__always)
    fileprivate mutating func write(_ path: ApiPath) -> String? {
        let start = count
        if path.needsSlash { write(slash) }
        self = path.written(to: self)
        // A segment `.` or `..` contains a dot or an escape.
        guard contains(UInt8(ascii: "."), from: start) || contains(UInt8(ascii: "%"), from: start) else { return nil }
        guard let first = firstDots(from: start) else { return nil }
        self = encodingDots(from: start)
        return first
    }

    /// Appends a base path, without its trailing slashes, to a copy of the writer.
    ///
    /// - Returns: The copy, and the first segment of the path that is `.` or `..`.
    @inline(never)
    fileprivate func appending(basePath: String) -> (writer: ByteWriter, dots: String?) {
        var writer = self
        let dots = writer.write(ApiPath(text: basePath))
        let slashCount = writer.bytes[count...].reversed().prefix { $0 == slash }.count
        writer.truncate(to: writer.count - slashCount)
        return (writer, dots)
    }

    /// The writer with the dots of segments that are `.` or `..` written as `%2E`.
    @inline(never)
    private func encodingDots(from start: Int) -> ByteWriter {
        let segments = bytes[start...].split(separator: slash, omittingEmptySubsequences: false).map { segment in
            Self.dots(in: segment)?.replacing(".", with: "%2E") ?? String(decoding: segment, as: UTF8.self)
        }
        var writer = self
        writer.truncate(to: start)
        writer.write(segments.joined(separator: "/"))
        return writer
    }

    /// The first segment that is `.` or `..`, in a path that starts with a slash or is empty.
    ///
    /// An encoded slash or backslash separates segments, too: some servers decode a path before they resolve it. But a
    /// `.` next to a backslash is allowed, because it stays in its folder: `.\SQLEXPRESS` is a usual name.
    @inline(never)
    private func firstDots(from start: Int) -> String? {
        for index in start..<count {
            let separatorCount = separatorByteCount(at: index)
            guard separatorCount > 0 else { continue }
            let first = index + separatorCount
            var end = first
            while end < count, end < first + 7, separatorByteCount(at: end) == 0 { end += 1 }
            guard let dots = Self.dots(in: bytes[first..<end]) else { continue }
            if dots == ".." || !isBackslash(at: index) && !isBackslash(at: end) { return dots }
        }
        return nil
    }

    /// Whether the separator at an index is an encoded backslash.
    private func isBackslash(at index: Int) -> Bool {
        index + 1 < count && bytes[index] == UInt8(ascii: "%") && bytes[index + 1] == UInt8(ascii: "5")
    }

    /// The length of a slash, an encoded slash or an encoded backslash at an index; 0 for other bytes.
    private func separatorByteCount(at index: Int) -> Int {
        if bytes[index] == slash { return 1 }
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < count else { return 0 }
        let digits = (bytes[index + 1], bytes[index + 2] | 0x20)
        let isSlash = digits == (UInt8(ascii: "2"), UInt8(ascii: "f"))
        return isSlash || digits == (UInt8(ascii: "5"), UInt8(ascii: "c")) ? 3 : 0
    }

    /// `.` or `..` if a segment is one of these in any spelling.
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

extension EncodedHost {
    /// Why nothing may be sent to an environment's host; nil for a plain host name.
    var flaw: String? {
        guard !isPlain else { return nil }
        guard !text.isEmpty else { return "the environment's host is empty" }
        // The text before an at sign may be a user name and a password, so it is not shown.
        let atSign = text.range(of: "%40", options: .backwards)
        let shown = atSign.map { Redactor.replacement + text[$0.lowerBound...] } ?? text
        return "the environment's host \"\(shown)\" is not a plain host name; set scheme, port and path in their own "
            + "properties"
    }
}

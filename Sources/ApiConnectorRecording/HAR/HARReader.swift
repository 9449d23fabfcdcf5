// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Reads files of HAR 1.2 that a ``Recorder`` wrote or a browser exported.
///
/// It accepts the known deviations of browsers: pseudo-header fields, missing bodies and additional fields. Any other
/// problem is an error that names the line.
struct HARReader {
    private let bytes: [UInt8]
    private let name: String

    /// - Parameter name: The file's name in error texts.
    init(_ data: Data, name: String) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        bytes = Array(data.starts(with: mark) ? data.dropFirst(mark.count) : data)
        self.name = name
    }

    func exchanges() throws(FixtureError) -> [RecordedExchange] {
        let isUTF16 = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        guard !isUTF16 else { throw FixtureError("\(name) is in UTF-16; save it in UTF-8") }
        let root: LocatedJSON
        do throws(JSONFlaw) {
            root = try JSONParser.value(in: bytes, isLenient: true)
        } catch {
            throw self.error(at: error.start, "it is not JSON: \(error.reason)")
        }
        let entries = try member("entries", of: try member("log", of: root, ""), "log")
        guard let list = entries.array else { throw expected("an array", entries, "log.entries") }
        var exchanges: [RecordedExchange] = []
        for (index, entry) in list.enumerated() { exchanges.append(try exchange(entry, "log.entries[\(index)]")) }
        return exchanges
    }

    private func exchange(_ entry: LocatedJSON, _ path: String) throws(FixtureError) -> RecordedExchange {
        let request = try member("request", of: entry, path)
        let requestPath = path + ".request"
        var exchange = RecordedExchange(
            started: entry["startedDateTime"]?.string.flatMap(Self.date) ?? Date(timeIntervalSince1970: 0),
            method: HTTPMethod(rawValue: try string("method", of: request, requestPath)),
            url: try string("url", of: request, requestPath),
            headers: try headers(of: request, requestPath),
            body: try postedBody(of: request, requestPath)
        )
        try readTimes(of: entry, into: &exchange)
        try readAnswer(of: entry, path, into: &exchange)
        return exchange
    }

    // MARK: - Parts of both messages

    /// The header fields of a message.
    ///
    /// The pseudo-fields of HTTP/2 are left out, and fields that a browser has joined by line feeds are split.
    func headers(of message: LocatedJSON, _ path: String) throws(FixtureError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (index, field) in try list("headers", of: message, path).enumerated() {
            let fieldPath = "\(path).headers[\(index)]"
            let name = try string("name", of: field, fieldPath)
            let value = try string("value", of: field, fieldPath)
            guard !name.hasPrefix(":") else { continue }
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                var sendable = headers
                sendable.append(HTTPHeaders.Name(name), String(line))
                // A field that this library refuses to send cannot have been sent in this form.
                if sendable.refused.isEmpty { headers = sendable }
            }
        }
        return headers
    }

    /// A body's bytes; nil if there is no text.
    ///
    /// - Parameter encoding: The key of the text's encoding.
    func bytes(of content: LocatedJSON, encoding: String, _ path: String) throws(FixtureError) -> Data? {
        guard let text = content["text"], !text.isNull else { return nil }
        guard let value = text.string else { throw expected("a string", text, path + ".text") }
        guard content[encoding]?.string?.lowercased() == "base64" else { return Data(value.utf8) }
        let digits = value.filter { !$0.isWhitespace }
        guard let data = Data(base64Encoded: digits) else { throw expected("base64", text, path + ".text") }
        return data
    }

    /// The request's body; nil if a body was sent, but is missing from the file.
    private func postedBody(of request: LocatedJSON, _ path: String) throws(FixtureError) -> Data? {
        guard let content = request["postData"], !content.isNull else {
            return request["bodySize"]?.number ?? 0 > 0 ? nil : Data()
        }
        let path = path + ".postData"
        let encoding = content["_encoding"] == nil ? "encoding" : "_encoding"
        if let data = try bytes(of: content, encoding: encoding, path), !data.isEmpty { return data }
        let params = try list("params", of: content, path)
        guard !params.isEmpty else { return Data() }
        guard let type = content["mimeType"]?.string.flatMap({ MediaType($0) }), type.subtype == MediaType.form.subtype
        else { return nil }
        let items = params.map { URLQueryItem(name: $0["name"]?.string ?? "", value: $0["value"]?.string ?? "") }
        var components = URLComponents()
        components.queryItems = items
        return Data((components.percentEncodedQuery ?? "").replacing("+", with: "%2B").utf8)
    }

    private func readTimes(of entry: LocatedJSON, into exchange: inout RecordedExchange) throws(FixtureError) {
        let timings = entry["timings"]
        let head = ["blocked", "dns", "connect", "send", "wait"].map { Self.duration(timings?[$0]) }
        exchange.headTime = head.reduce(.zero, +)
        let received = exchange.headTime + Self.duration(timings?["receive"])
        exchange.endTime = max(received, Self.duration(entry["time"]))
    }

    // MARK: - Values

    /// The duration of a number of milliseconds; zero if the number is missing.
    static func duration(_ value: LocatedJSON?) -> Duration {
        guard let number = value?.number, number.isFinite, number > 0 else { return .zero }
        return .nanoseconds(Int64((min(number, 1e12) * 1e6).rounded()))
    }

    static func date(_ text: String) -> Date? {
        (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
    }

    func member(_ key: String, of value: LocatedJSON, _ path: String) throws(FixtureError) -> LocatedJSON {
        guard case .object = value.content else { throw expected("an object", value, path.isEmpty ? "the file" : path) }
        guard let member = value[key], !member.isNull else {
            throw error(at: value.range.lowerBound, "\(path.isEmpty ? "the file" : path) has no \"\(key)\"")
        }
        return member
    }

    func string(_ key: String, of value: LocatedJSON, _ path: String) throws(FixtureError) -> String {
        let member = try member(key, of: value, path)
        guard let string = member.string else { throw expected("a string", member, "\(path).\(key)") }
        return string
    }

    /// The elements of a list that may be missing.
    func list(_ key: String, of value: LocatedJSON, _ path: String) throws(FixtureError) -> [LocatedJSON] {
        guard let member = value[key], !member.isNull else { return [] }
        guard let list = member.array else { throw expected("an array", member, "\(path).\(key)") }
        return list
    }

    func expected(_ what: String, _ value: LocatedJSON, _ path: String) -> FixtureError {
        error(at: value.range.lowerBound, "\(path) must be \(what)")
    }

    private func error(at offset: Int, _ reason: String) -> FixtureError {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return FixtureError("\(name), line \(line), column \(offset - lineStart + 1): \(reason)")
    }
}

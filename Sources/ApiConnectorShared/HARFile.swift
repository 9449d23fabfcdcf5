// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

/// Writes HAR 1.2 (HTTP Archive) files, which browsers' developer tools read.
///
/// The recorder of ApiConnectorTesting and the archive of a running program use it.
package enum HARFile {
    /// The bytes of a file with these entries.
    package static func data(_ entries: [HAREntry]) throws -> Data {
        try encoder.encode(Document(log: Log(entries: entries))) + Data("\n".utf8)
    }

    /// The bytes of one entry.
    package static func data(_ entry: HAREntry) throws -> Data { try encoder.encode(entry) }

    private struct Document: Encodable {
        let log: Log
    }

    private struct Log: Encodable {
        let version = "1.2"
        let creator = ["name": "ApiConnector", "version": "1"]
        let entries: [HAREntry]
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The text for an HTTP version; empty if it is unknown, as browsers write it.
    static func httpVersion(_ version: String?) -> String { version.map { "HTTP/\($0)" } ?? "" }

    /// A time in milliseconds with up to three decimal places.
    static func milliseconds(_ time: Duration) -> Double { ((time / .milliseconds(1)) * 1000).rounded() / 1000 }
}

/// An exchange in a HAR file.
package struct HAREntry: Encodable {
    let startedDateTime: String
    let time: Double
    let request: HARRequest
    let response: HARResponse
    let cache: [String: String] = [:]
    let timings: HARTimings
    var serverIPAddress: String?
    var comment: String?
    var end: String?
    var failure: [String: String]?
    var call: [String: String]?

    enum CodingKeys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
        // Names with an underscore are custom fields.
        case end = "_end"
        case failure = "_failure"
        case call = "_call"
    }

    /// - Parameters:
    ///   - end: How the response ended; nil for a normal end.
    ///   - failure: Details of an error, by name.
    ///   - call: Details of the call, by name.
    package init(
        started: Date,
        time: Duration,
        request: HARRequest,
        response: HARResponse,
        timings: HARTimings,
        serverAddress: String? = nil,
        comment: String? = nil,
        end: String? = nil,
        failure: [String: String]? = nil,
        call: [String: String]? = nil
    ) {
        startedDateTime = started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.time = HARFile.milliseconds(time)
        self.request = request
        self.response = response
        self.timings = timings
        serverIPAddress = serverAddress
        self.comment = comment
        self.end = end
        self.failure = failure
        self.call = call
    }
}

/// The phases of an entry in milliseconds; -1 for a phase that did not take place.
package struct HARTimings: Encodable {
    var blocked: Double?
    var dns: Double?
    var connect: Double?
    var ssl: Double?
    let send: Double
    let wait: Double
    let receive: Double

    /// Makes the timings of an exchange for which only the times of the head and of the end are known.
    package init(wait: Duration, receive: Duration) {
        send = 0
        self.wait = HARFile.milliseconds(wait)
        self.receive = HARFile.milliseconds(receive)
    }

    /// Makes the timings of an exchange with measured phases.
    ///
    /// - Parameters:
    ///   - connect: Connecting, without the TLS handshake.
    ///   - ssl: The TLS handshake, which HAR includes in connecting.
    package init(
        blocked: Duration?,
        dns: Duration?,
        connect: Duration?,
        ssl: Duration?,
        send: Duration?,
        wait: Duration?,
        receive: Duration?
    ) {
        let known = { (time: Duration?) in time.map(HARFile.milliseconds) ?? -1 }
        self.blocked = known(blocked)
        self.dns = known(dns)
        self.connect = known(connect.map { $0 + (ssl ?? .zero) })
        self.ssl = known(ssl)
        self.send = HARFile.milliseconds(send ?? .zero)
        self.wait = HARFile.milliseconds(wait ?? .zero)
        self.receive = HARFile.milliseconds(receive ?? .zero)
    }
}

/// A name and a value: a header field, a cookie, or an item of a query or form.
package struct HARPair: Encodable {
    let name: String
    let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The first `name=value` of a text.
    fileprivate init(cookie text: Substring) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts[0].trimmingCharacters(in: .whitespaces)
        value = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    }
}

/// The request of an entry.
///
/// HAR repeats the query items and the cookies in separate fields, which are derived from the URL and the header
/// fields.
package struct HARRequest: Encodable {
    let method: String
    let url: String
    let httpVersion: String
    let headers: [HARPair]
    let queryString: [HARPair]
    let cookies: [HARPair]
    let headersSize = -1
    let bodySize: Int
    var postData: PostData?

    /// - Parameters:
    ///   - httpVersion: The HTTP version, such as `1.1`; nil if unknown.
    ///   - body: The body; nil if the file does not contain it.
    ///   - mediaType: The body's media type, such as `application/json`.
    ///   - bodySize: The size of the body; the size of `body` by default, and 1 if that is nil.
    package init(
        method: String,
        url: String,
        httpVersion: String? = nil,
        headers: [HARPair],
        body: Data?,
        mediaType: String?,
        bodySize: Int? = nil
    ) {
        self.method = method
        self.url = url
        self.httpVersion = HARFile.httpVersion(httpVersion)
        self.headers = headers
        queryString = Self.items(URLComponents(string: url))
        cookies = headers.filter { $0.name.lowercased() == "cookie" }
            .flatMap { $0.value.split(separator: ";") }
            .map { HARPair(cookie: $0) }
        // HAR's value for an unknown size is -1, but the reader of ApiConnectorTesting treats it as no body.
        self.bodySize = bodySize ?? body?.count ?? 1
        guard let body, !body.isEmpty else { return }
        let text = HARText(body)
        postData = PostData(
            mimeType: mediaType ?? "application/octet-stream",
            text: text.text,
            encoding: text.encoding
        )
    }

    private static func items(_ components: URLComponents?) -> [HARPair] {
        (components?.queryItems ?? []).map { HARPair(name: $0.name, value: $0.value ?? "") }
    }

    /// The body of a request.
    ///
    /// A form has `text`, as any other body has, and no `params`.
    ///
    /// The specification allows only one of the two, although Chromium writes both. The text is exact, and readers such
    /// as Chromium's developer tools take the form's items from it.
    struct PostData: Encodable {
        let mimeType: String
        let text: String
        let encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }
}

/// The response of an entry.
package struct HARResponse: Encodable {
    let status: Int
    let statusText: String
    let httpVersion: String
    let headers: [HARPair]
    let cookies: [HARPair]
    let content: Content
    let redirectURL: String
    let headersSize = -1
    let bodySize: Int

    /// A chunk of the body, with its size and the time of its arrival.
    package struct Chunk: Encodable {
        let byteCount: Int
        let time: Double

        package init(byteCount: Int, time: Duration) {
            self.byteCount = byteCount
            self.time = HARFile.milliseconds(time)
        }
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        var text: String?
        var encoding: String?
        var chunks: [Chunk]?

        enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding
            case chunks = "_chunks"
        }
    }

    /// - Parameters:
    ///   - status: The status; nil if no response arrived.
    ///   - httpVersion: The HTTP version, such as `1.1`; nil if unknown.
    ///   - body: The body after decompression; nil if the file does not contain it.
    ///   - size: The size of the body after decompression.
    ///   - bodySize: The size of the body before decompression.
    package init(
        status: Int?,
        statusText: String,
        httpVersion: String? = nil,
        headers: [HARPair],
        body: Data?,
        mediaType: String?,
        size: Int,
        bodySize: Int,
        chunks: [Chunk]? = nil
    ) {
        self.status = status ?? 0
        self.statusText = statusText
        self.httpVersion = HARFile.httpVersion(httpVersion)
        self.headers = headers
        cookies = headers.filter { $0.name.lowercased() == "set-cookie" }
            .map { field in HARPair(cookie: field.value.prefix { $0 != ";" }) }
        content = Self.content(body, mediaType, size, chunks)
        redirectURL = headers.first { $0.name.lowercased() == "location" }?.value ?? ""
        self.bodySize = bodySize
    }

    private static func content(_ body: Data?, _ mediaType: String?, _ size: Int, _ chunks: [Chunk]?) -> Content {
        let text = body.map { HARText($0) }
        return Content(
            size: size,
            mimeType: mediaType ?? "x-unknown",
            text: text?.text,
            encoding: text?.encoding,
            chunks: chunks
        )
    }
}

/// Bytes as text if they are UTF-8, otherwise as base64.
private struct HARText {
    let text: String
    var encoding: String?

    init(_ bytes: Data) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self.text = text
        } else {
            text = bytes.base64EncodedString()
            encoding = "base64"
        }
    }
}

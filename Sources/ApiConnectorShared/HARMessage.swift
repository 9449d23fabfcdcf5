// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The URL, the method and the header list of a request as C strings, in one block of memory.
///
/// libcurl keeps a pointer to the header list, so the block lives as long as its transfer.
struct CurlRequestHead: ~Copyable {
    let url: UnsafePointer<CChar>
    let method: UnsafePointer<CChar>
    let headers: UnsafeMutablePointer<curl_slist>?
    /// The request's own cookies, if libcurl combines them with stored cookies; otherwise they are in `headers`.
    let cookies: String?
    private let memory: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - acceptEncoding: The content codings to request, unless the request names its own; nil for none.
    ///   - keepsCookies: Whether libcurl sends stored cookies; false by default.
    init(_ request: ApiRequest, acceptEncoding: String? = nil, keepsCookies: Bool = false) {
        let url = request.url.absoluteString
        var fields = Self.fields(of: request, acceptEncoding)
        // libcurl would send a second `Cookie` field, but a request has at most one (RFC 6265, section 5.4).
        let cookie = keepsCookies ? fields.firstIndex { $0.name == .cookie } : nil
        cookies = cookie.map { fields.remove(at: $0).value }
        let nodeSize = MemoryLayout<curl_slist>.stride
        var byteCount = fields.count * nodeSize + url.utf8.count + request.method.rawValue.utf8.count + 2
        for field in fields { byteCount += field.name.rawValue.utf8.count + field.value.utf8.count + 3 }

        memory = .allocate(byteCount: byteCount, alignment: MemoryLayout<curl_slist>.alignment)
        var end = memory + fields.count * nodeSize
        headers = fields.isEmpty ? nil : memory.bindMemory(to: curl_slist.self, capacity: fields.count)
        for (index, field) in fields.enumerated() {
            let text = UnsafeMutablePointer<CChar>(OpaquePointer(end))
            Self.append(field.name.rawValue, to: &end)
            switch field.value {
            // libcurl's syntax: a colon without a value removes a field, and a semicolon sends an empty field.
            case Self.removal: Self.append(":", to: &end)
            case "": Self.append(";", to: &end)
            default:
                Self.append(": ", to: &end)
                Self.append(field.value, to: &end)
            }
            Self.append("\0", to: &end)
            let next = index + 1 < fields.count ? headers.map { $0 + index + 1 } : nil
            headers?[index] = curl_slist(data: text, next: next)
        }
        self.url = UnsafePointer(OpaquePointer(end))
        Self.append(url, to: &end)
        Self.append("\0", to: &end)
        method = UnsafePointer(OpaquePointer(end))
        Self.append(request.method.rawValue, to: &end)
        Self.append("\0", to: &end)
    }

    /// Removes the field `Expect` for the next send; libcurl removes only its own one.
    func removeExpectation() {
        let name = Self.expect.rawValue + ":"
        var node = headers
        while let line = node?.pointee {
            // A line without a value is not sent.
            if strncasecmp(line.data, name, name.utf8.count) == 0 { line.data[name.utf8.count] = 0 }
            node = line.next
        }
    }

    /// Whether the request uses TLS.
    var isSecure: Bool { url[4] | 0x20 == CChar(bitPattern: UInt8(ascii: "s")) }

    deinit {
        memory.deallocate()
    }

    private typealias Line = (name: HTTPHeaders.Name, value: String)

    /// Marks a field that libcurl must not add by itself; a value that can be sent has no line break.
    private static let removal = "\n"

    /// The lines to send.
    ///
    /// libcurl frames the body, and cookies are combined in one field (RFC 6265).
    private static func fields(of request: ApiRequest, _ acceptEncoding: String?) -> [Line] {
        var lines: [Line] = []
        lines.reserveCapacity(request.headers.count + 3)
        if !request.headers.contains(.userAgent) { lines.append((.userAgent, HTTPHeaders.standardUserAgent)) }
        if let acceptEncoding, !request.headers.contains(.acceptEncoding) {
            // A range of a coded body cannot be decoded (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
            lines.append((.acceptEncoding, request.headers.contains(.range) ? "identity" : acceptEncoding))
        }
        var hasType = false
        var cookie: Int?
        for field in request.headers {
            if field.name == .contentLength || field.name == transferEncoding { continue }
            if field.name == .contentType { hasType = true }
            if field.name == .cookie {
                if let cookie {
                    lines[cookie].value += "; " + field.value
                    continue
                }
                cookie = lines.count
            }
            lines.append((field.name, field.value))
        }
        // libcurl waits for a second before it sends the body to a server that does not know this field. That is too long
        // for a short body, and for one that may be short.
        let isShort = request.body.source.map { ($0.byteCount ?? 0) <= CurlUpload.maximumInlineByteCount }
        if isShort == true, !request.headers.contains(expect) { lines.append((expect, removal)) }
        if hasType { return lines }
        if !request.body.isEmpty {
            lines.append((.contentType, (request.body.mediaType ?? .octetStream).description))
        } else if request.method.announcesEmptyBody {
            lines.append((.contentType, removal))
        }
        return lines
    }

    private static let transferEncoding: HTTPHeaders.Name = "Transfer-Encoding"
    private static let expect: HTTPHeaders.Name = "Expect"

    private static func append(_ text: String, to end: inout UnsafeMutableRawPointer) {
        var text = text
        text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return }
            end.copyMemory(from: base, byteCount: bytes.count)
            end += bytes.count
        }
    }
}

extension HTTPMethod {
    /// RFC 9110, section 8.6: a method that usually has a body announces an empty one with `Content-Length: 0`.
    var announcesEmptyBody: Bool {
        self == .post || self == .put || self == .patch
    }
}

#endif

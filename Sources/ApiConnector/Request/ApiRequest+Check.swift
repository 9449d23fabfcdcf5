// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Throws if the request must not be sent; each transport calls it before it sends a request.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.invalidRequest` that names the invalid part.
    public func checkSendable() throws(ApiConnectorError) {
        if !isKnownSendable, let flaw { throw ApiConnectorError(.invalidRequest, at: .request, flaw, request: self) }
    }

    private var flaw: String? {
        if !url.isPlainHTTP {
            guard url.isHTTP else {
                return url.scheme.map { "its URL has the scheme \"\($0)\", but only http and https are supported" }
                    ?? "its URL has no scheme, but only http and https are supported"
            }
            guard url.host(percentEncoded: true)?.isEmpty == false else { return "its URL has no host" }
        }
        guard method.isToken else {
            return "its method \(method) is not a token of RFC 9110"
        }
        if let field = headers.refused.first {
            return field.name.isToken
                ? "the value of its header field \(field.name) holds a control character, such as a line break; trim it before "
                    + "it is set"
                : "the name of its header field \(String(reflecting: field.name.rawValue)) is not a token of RFC 9110"
        }
        return nil
    }
}

extension URL {
    /// Whether the text begins with http or https and one plain host, like almost every URL; false is inconclusive.
    ///
    /// This check avoids `scheme` and `host`, for which Foundation creates strings.
    fileprivate var isPlainHTTP: Bool {
        var text = absoluteString
        return text.withUTF8 { bytes in
            let start = bytes.begin(with: "http://") ? 7 : bytes.begin(with: "https://") ? 8 : 0
            guard start > 0 else { return false }
            var end = start
            while end < bytes.count, ByteSet.plainHost.contains(bytes[end]) { end += 1 }
            guard end > start else { return false }
            if end < bytes.count, bytes[end] == UInt8(ascii: ":") {
                repeat { end += 1 } while end < bytes.count && ByteSet.decimalDigits.contains(bytes[end])
            }
            // Any other byte is inconclusive. If it is an at sign, for example, the text before it is user info.
            return end == bytes.count || ByteSet.hostEnd.contains(bytes[end])
        }
    }

    /// Whether the scheme is http or https, in uppercase or lowercase letters.
    fileprivate var isHTTP: Bool {
        guard let scheme else { return false }
        return scheme == "https" || scheme == "http" || HTTPScheme(rawValue: scheme.lowercased()) != nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the first bytes equal a text.
    fileprivate func begin(with text: StaticString) -> Bool {
        guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}

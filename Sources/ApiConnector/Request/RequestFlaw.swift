// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Finds the parts of a request that must not be sent.
///
/// The connection checks a call's request, and each transport checks the request that it gets, because a wrapper may
/// have changed it.
enum RequestFlaw {
    /// Why the request must not be sent; nil if it can be sent.
    static func text(of request: ApiRequest) -> String? {
        let url = request.url
        if !url.isPlainHTTP {
            guard url.isHTTP else {
                return url.scheme.map { "its URL has the scheme \"\($0)\", but only http and https are supported" }
                    ?? "its URL has no scheme, but only http and https are supported"
            }
            guard url.host(percentEncoded: true)?.isEmpty == false else { return "its URL has no host" }
        }
        guard request.method.isToken else {
            return "its method \(request.method) is not a token of RFC 9110"
        }
        if let field = request.headers.refused.first {
            return field.name.isToken
                ? "the value of its header field \(field.name) holds a control character, such as a line break; trim it before "
                    + "it is set"
                : "the name of its header field \(String(reflecting: field.name.rawValue)) is not a token of RFC 9110"
        }
        return nil
    }

    /// Describes the header field that contradicts the body or the URL; nil if there is none.
    ///
    /// Without this check, a transport would send another value than the one that was set, or a body that the server
    /// cannot read.
    ///
    /// - Parameter routeHost: The route's `Host` field. The environment, the connection and the call can set another
    ///   host name, to call a server by its address. A route cannot.
    static func conflict(in request: ApiRequest, routeHost: String?) -> String? {
        for field in request.headers {
            let conflict =
                switch field.name {
                case .contentType: typeConflict(field.value, request.body)
                case .contentLength: lengthConflict(field.value, request.body)
                case "Transfer-Encoding": "set by the transport, which frames the body; leave the field out"
                case .host where field.value == routeHost: hostConflict(field.value, request.url)
                default: String?.none
                }
            if let conflict { return "its header field \(field.name) is \(conflict)" }
        }
        return nil
    }

    private static func typeConflict(_ text: String, _ body: RequestBody) -> String? {
        guard let boundary = body.mediaType?[parameter: "boundary"],
            MediaType(text)?[parameter: "boundary"] != boundary
        else { return nil }
        return "\"\(text)\", without the boundary between the parts of its body; "
            + "leave the field out, the body has its own type"
    }

    private static func lengthConflict(_ text: String, _ body: RequestBody) -> String? {
        guard let byteCount = body.byteCount else {
            return "\"\(text)\", but the length of its body is unknown; pass the length as the body's byteCount"
        }
        return text == "\(byteCount)" ? nil : "\"\(text)\", and its body has \(byteCount) bytes; leave the field out"
    }

    private static func hostConflict(_ text: String, _ url: URL) -> String? {
        let host = url.host(percentEncoded: true) ?? ""
        let authority = url.port.map { "\(host):\($0)" } ?? host
        guard ![host, authority].contains(where: { $0.lowercased() == text.lowercased() }) else { return nil }
        return "\"\(text)\", but its URL has the host \(authority); set the host in the environment"
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

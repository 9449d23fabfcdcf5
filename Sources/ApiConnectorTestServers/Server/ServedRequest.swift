// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A client's request to a ``ScriptServer``.
enum ServedRequest {
    case request(ApiRequest)
    /// A request that cannot be answered, and why.
    case refused(String)

    /// The header fields for a single connection, which are not passed on (RFC 9110, section 7.6.1).
    static let hopFields: [HTTPHeaders.Name] = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade",
    ]

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - sent: The request as it arrived.
    ///   - root: The root URL of the request's server, if the request's target does not name a server.
    init(_ sent: LoopbackRequest, standingFor root: URL) {
        if sent.method == "CONNECT" {
            self = .refused(
                "CONNECT \(sent.target) is refused: a script cannot answer inside TLS; give the client an http URL, or "
                    + "make the server's URL its base URL"
            )
            return
        }
        guard let url = Self.url(of: sent, standingFor: root), url.host(percentEncoded: true)?.isEmpty == false else {
            self = .refused(
                "the target \(sent.target.debugDescription) of a \(sent.method) request is not a URL or a path"
            )
            return
        }
        var request = ApiRequest(url: url, method: HTTPMethod(rawValue: sent.method), delivery: .streamed)
        for field in sent.headers { request.headers.append(HTTPHeaders.Name(field.name), field.value) }
        if !sent.body.isEmpty {
            let type = sent.header("Content-Type").flatMap { MediaType($0) } ?? .octetStream
            request.body = .data(sent.body, mediaType: type)
        }
        self = .request(request)
    }

    /// The URL of a request.
    ///
    /// The target has the absolute form for a proxy, and the origin form for a server (RFC 9112, section 3.2).
    private static func url(of sent: LoopbackRequest, standingFor root: URL) -> URL? {
        guard sent.target.hasPrefix("/") else {
            return URL(string: sent.target).flatMap { $0.scheme == nil ? nil : $0 }
        }
        let port = root.port.map { ":\($0)" } ?? ""
        let host = root.host(percentEncoded: true) ?? ""
        let authority = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return URL(string: "\(root.scheme ?? "http")://\(authority)\(port)\(sent.target)")
    }
}

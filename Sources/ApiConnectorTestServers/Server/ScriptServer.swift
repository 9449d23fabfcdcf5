// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Answers from a script on a free port of 127.0.0.1, for code in another process or with its own transport.
///
/// ```swift
/// let server = try ScriptServer(script)
/// let pugs = PugClient(baseURL: server.url)
/// ```
///
/// ``url`` replaces the root URL of the script's environment, including the base path. For a client whose base URL
/// cannot be changed, the server is also an HTTP proxy: it answers absolute URLs from the same script. As a proxy it
/// refuses `CONNECT`, and therefore https, because a script cannot read encrypted requests.
///
/// A request without an answer is an issue, and gets status 501 with the script's explanation as its body. If an answer
/// is late or is never given, the client waits as for any server: until its timeout or the script's end. A client that
/// closes its side of the connection counts as gone, even if it could still receive.
///
/// With a script, the server lives as long as the script. With any other source, it lives as long as there is a
/// reference to it.
public final class ScriptServer: Sendable {
    /// The URL to use instead of the root URL of the script's environment.
    public let url: URL

    private let server: LoopbackServer

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - responses: A script, or any other source of responses.
    ///   - origin: The URL of the server that this server replaces. It completes the URL of each request whose target
    ///     is only a path, not an absolute URL. The default is the root URL of the script's environment, or this
    ///     server's own URL for any other source.
    ///   - provider: The provider that gets the requests without an answer; nil by default, which refuses them.
    ///     Requests that are passed on are recorded, and are not issues.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers that a socket cannot send; another error if no
    ///   port is free.
    public init(
        _ responses: some ResponseSource,
        standingFor origin: URL? = nil,
        passingUnmatchedTo provider: (any DataRequestType)? = nil
    ) throws {
        let owner = responses as? any ScriptOwner
        if let owner { try AdapterLimits.socket.attach(to: owner.engine) }
        let port = Locked<Int?>(nil)
        var context = AnswerDelivery(limits: AdapterLimits.socket)
        if let provider {
            context.passOn = { request in
                try Self.refuseItself(request, at: port.withLock { $0 })
                return try await provider.passedOn(request)
            }
        }
        let source = AdaptedResponses(responses, context)
        let root = origin ?? owner?.rootURL
        server = try LoopbackServer { connection in
            try ServedConnection(connection, source, root).serve()
        }
        let path = root?.path(percentEncoded: true) ?? "/"
        url = server.url(path)
        let ownPort = server.port
        port.withLock { $0 = ownPort }
        owner?.engine.keep(server)
    }

    /// The port of 127.0.0.1 on which the server listens.
    public var port: Int { server.port }

    /// Refuses to pass a request on to this server itself, because the request would loop forever.
    private static func refuseItself(_ request: ApiRequest, at port: Int?) throws {
        let host = request.url.host() ?? ""
        guard request.url.port == port, ["127.0.0.1", "localhost", "::1"].contains(host) else { return }
        let text =
            "it has no answer, and its URL is that of this ScriptServer; give the URL of the server that it replaces"
        throw ApiConnectorError(.unmatched, text, request: request)
    }

    /// Closes the port and every connection.
    public func stop() {
        server.stop()
    }
}

extension DataRequestType {
    /// Passes a client's request on, and collects the whole response.
    fileprivate func passedOn(_ request: ApiRequest) async throws -> TestConnectorResponse {
        var request = request
        for name in ServedRequest.hopFields { request.headers.remove(name) }
        request.headers.remove("Host")
        request.headers.remove(.contentLength)
        request.delivery = .standard
        let response = try await response(for: request)
        let body = try await response.body.collect(upTo: request.delivery.maximumByteCount)
        var headers = response.headers
        for name in ServedRequest.hopFields { headers.remove(name) }
        // The transport has already decoded the body.
        headers.remove("Content-Encoding")
        return .data(body, status: response.status, headers: headers)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Answers from a script on a free port of 127.0.0.1, for code in another process or behind its own transport.
///
/// ```swift
/// let server = try ScriptServer(script)
/// let pugs = PugClient(baseURL: server.url)
/// ```
///
/// ``url`` stands for the script's environment, base path included. The server is an HTTP proxy as well: a client whose
/// base URL cannot be changed sends it absolute URLs, which it answers by the same script. `CONNECT`, and with it https
/// through the proxy, is refused: nobody could look into it.
///
/// A request without an answer is an issue, and gets status 501 with the script's explanation as its body. A client
/// that closes its side of the connection, even only for sending, is taken to have gone. One that is answered late or
/// never is waited for until then, or until the script ends, as by any server: its own limits of time end it. Over a script the server lives
/// as long as the script; over any other source as long as somebody holds the server.
public final class ScriptServer: Sendable {
    /// Where the environment of the script is to be looked for.
    public let url: URL

    private let server: LoopbackServer

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - responses: A script, or any other source of responses.
    ///   - origin: Which server it stands for where the request does not say; the script's environment by default, and
    ///     itself for any other source.
    ///   - provider: Where requests without an answer are passed on to, over which network whatever; nil, refused, by
    ///     default. They are recorded all the same, and are no issue.
    /// - Throws: ``UnsupportedScriptError`` for a script with answers that a socket cannot show; an error that says so when
    ///   there is no port.
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

    /// The port of 127.0.0.1 that it listens on.
    public var port: Int { server.port }

    /// A request that was passed on to the server itself would come back for ever.
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
    /// Sends a request of a server's client on, and takes what comes whole.
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
        // The transport has decoded the body already.
        headers.remove("Content-Encoding")
        return .data(body, status: response.status, headers: headers)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import AsyncHTTPClient
import AsyncAlgorithms
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A transport over async-http-client: the complete version of the example in the guide "Bring your own transport".
///
/// Request and response bodies are streamed with back-pressure: only the current chunk is buffered.
public struct AsyncHTTPClientProvider: DefaultDataRequestType {
    private let owner: ClientOwner

    /// Makes a provider with its own client, which shuts down when the last copy of the provider is released.
    ///
    /// After the shutdown, a streamed body that was not read to its end fails with kind `.cancelled`.
    public init() {
        owner = ClientOwner(HTTPClient(eventLoopGroupProvider: .singleton, configuration: .forProviders), isOwned: true)
    }

    /// Makes a provider over your client.
    ///
    /// The client must not follow redirects, and you must shut it down.
    public init(client: HTTPClient) {
        owner = ClientOwner(client, isOwned: false)
    }

    /// Sends a request.
    ///
    /// The response body is either collected, or a stream from which the reader pulls.
    ///
    /// - Throws: `ApiConnectorError`, which has kind `.cancelled` if the task is canceled.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        return try await ApiConnectorError.mapping(request) { [owner] in
            do {
                try Task.checkCancellation()
                return try await Self.response(for: request, over: owner.client)
            } catch {
                throw AsyncHTTPClientErrors.mapping(error, request)
            }
        }
    }

    private static func response(for request: ApiRequest, over client: HTTPClient) async throws -> ApiResponse {
        var outgoing = HTTPClientRequest(url: request.url.absoluteString)
        outgoing.method = NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers { outgoing.headers.add(name: field.name.rawValue, value: field.value) }
        if !outgoing.headers.contains(name: "Content-Type"), let type = request.body.mediaType {
            outgoing.headers.add(name: "Content-Type", value: type.description)
        }
        return try await withBody(of: request) { body in
            outgoing.body = body
            let incoming = try await client.execute(outgoing, deadline: .distantFuture)
            var headers = ApiConnector.HTTPHeaders()
            for (name, value) in incoming.headers { headers.append(HTTPHeaders.Name(name), value) }
            var response = ApiResponse(to: request, status: HTTPStatus(rawValue: Int(incoming.status.code)))
            response.headers = headers
            let chunks = incoming.body.map { Data(buffer: $0) }
            response.body = ResponseBody(chunks: MappedErrors(base: chunks, request: request))
            if case .collected(upTo: let limit) = request.delivery {
                response.body = ResponseBody(try await response.body.collect(upTo: limit))
            }
            return response
        }
    }

    /// Runs a call with the request body.
    ///
    /// A body in memory is sent as a whole, any other body chunk by chunk with back-pressure.
    private static func withBody(
        of request: ApiRequest,
        _ call: (HTTPClientRequest.Body?) async throws -> ApiResponse
    ) async throws -> ApiResponse {
        guard request.body.isStreamed else {
            return try await call(request.body.isEmpty ? nil : .bytes(ByteBuffer(data: request.body.data())))
        }
        let channel = AsyncThrowingChannel<ByteBuffer, any Error>()
        let feed = Task {
            do {
                try await request.body.send { await channel.send(ByteBuffer(data: $0)) }
                channel.finish()
            } catch {
                channel.fail(error)
            }
        }
        defer { feed.cancel() }
        let length = request.body.byteCount
        return try await call(.stream(channel, length: length.map { .known(Int64($0)) } ?? .unknown))
    }
}

/// The chunks of a body, with the client's errors mapped.
private struct MappedErrors<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == Data {
    struct AsyncIterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let request: ApiRequest

        mutating func next() async throws -> Data? {
            try await next(isolation: nil)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
            do {
                return try await base.next(isolation: actor)
            } catch {
                throw AsyncHTTPClientErrors.mapping(error, request)
            }
        }
    }

    let base: Base
    let request: ApiRequest

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), request: request)
    }
}

/// Shuts a client down when the last reference is released.
private final class ClientOwner: Sendable {
    let client: HTTPClient
    private let isOwned: Bool

    init(_ client: HTTPClient, isOwned: Bool) {
        self.client = client
        self.isOwned = isOwned
    }

    deinit {
        if isOwned { client.shutdown { _ in } }
    }
}

extension HTTPClient.Configuration {
    /// Redirects and retries are off, because the connection handles them.
    fileprivate static var forProviders: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

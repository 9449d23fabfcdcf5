// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import AsyncHTTPClient
import AsyncAlgorithms
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A transport over async-http-client: the long form of the guide "Bring your own transport".
///
/// Bodies are streamed both ways, each side pulled by the other: nothing is buffered but the chunk under way.
public struct AsyncHTTPClientProvider: DefaultDataRequestType {
    private let owner: ClientOwner

    /// Makes a provider with its own client, which shuts down with the last copy.
    ///
    /// A streamed body that is not read to its end then fails with kind `.cancelled`.
    public init() {
        owner = ClientOwner(HTTPClient(eventLoopGroupProvider: .singleton, configuration: .forProviders), isOwned: true)
    }

    /// Makes a provider over a client of yours; it has to follow no redirects, and is yours to shut down.
    public init(client: HTTPClient) {
        owner = ClientOwner(client, isOwned: false)
    }

    /// Sends a request; a collected body is collected here, a streamed one is pulled by its reader.
    ///
    /// - Throws: `ApiConnectorError`; of kind `.cancelled` when the task is canceled.
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

    /// Runs a call with the request's body: from memory as it is, else chunk by chunk, each waiting to be taken.
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

/// A body's chunks, with the client's errors as ours.
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

/// Shuts a client down when nobody has it any more.
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
    /// What a provider may not do by itself is switched off: redirects and attempts are the connection's.
    fileprivate static var forProviders: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

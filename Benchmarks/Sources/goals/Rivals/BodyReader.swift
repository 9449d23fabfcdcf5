// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

/// A way to read a large body as it arrives.
enum BodyReader: String, CaseIterable, ExpressibleByArgument {
    case system, urlSession, asyncHTTPClient, socket

    var name: String {
        switch self {
        case .system: "ours"
        case .urlSession: "a URLSession delegate"
        case .asyncHTTPClient: "async-http-client"
        case .socket: "a bare loop of recv"
        }
    }

    private static var multiplexedProvider: CurlProvider {
        var configuration = CurlConfiguration()
        configuration.streamsOverHTTP2 = true
        return CurlProvider(configuration: configuration)
    }

    /// Reads a body and passes on its chunks in order.
    ///
    /// - Parameter multiplexed: Whether this library uses HTTP/2 for the stream; by default it does not.
    @concurrent
    func read(_ url: URL, multiplexed: Bool = false, _ take: (Data) async throws -> Void) async throws {
        switch self {
        case .system:
            let provider: any DataRequestType = multiplexed ? Self.multiplexedProvider : SystemProvider()
            let response = try await provider.response(for: ApiRequest(url: url, delivery: .streamed))
            for try await chunk in response.body { try await take(chunk) }
            withExtendedLifetime(provider) {}
        case .urlSession:
            for try await chunk in DelegateChunks.stream(of: url) {
                try await take(chunk.data)
                chunk.isTaken.signal()
            }
        case .asyncHTTPClient:
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url.absoluteString),
                timeout: .minutes(10)
            )
            for try await buffer in response.body {
                try await take(Data(buffer: buffer, byteTransferStrategy: .noCopy))
            }
        case .socket:
            try await BareSocket.read(url, take)
        }
    }
}

/// A delegate that blocks URLSession's queue until its chunk is consumed, because URLSession has no other
/// back-pressure.
private final class DelegateChunks: NSObject, URLSessionDataDelegate {
    struct Chunk: Sendable {
        let data: Data
        let isTaken: DispatchSemaphore
    }

    private let continuation: AsyncThrowingStream<Chunk, any Error>.Continuation
    private let isTaken = DispatchSemaphore(value: 0)

    private init(_ continuation: AsyncThrowingStream<Chunk, any Error>.Continuation) {
        self.continuation = continuation
    }

    static func stream(of url: URL) -> AsyncThrowingStream<Chunk, any Error> {
        AsyncThrowingStream { continuation in
            let delegate = DelegateChunks(continuation)
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(Chunk(data: data, isTaken: isTaken))
        isTaken.wait()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import AsyncHTTPClient
import Glibc
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A way to send a file by PUT.
enum FileSender: String, CaseIterable, ExpressibleByArgument {
    case system, urlSession, asyncHTTPClient

    var name: String {
        switch self {
        case .system: "ours"
        case .urlSession: "URLSession"
        case .asyncHTTPClient: "async-http-client"
        }
    }

    /// Sends the file and returns the server's response.
    @concurrent
    func send(_ file: URL, to url: URL) async throws -> SinkServer.Answer {
        switch self {
        case .system:
            let request = ApiRequest(url: url, method: .put, body: .file(file))
            let response = try await SystemProvider().response(for: request)
            return try Self.answer(try await response.body.collect(upTo: 1 << 20))
        case .urlSession:
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            return try Self.answer(try await URLSession.shared.upload(for: request, fromFile: file).0)
        case .asyncHTTPClient:
            var request = HTTPClientRequest(url: url.absoluteString)
            request.method = .PUT
            let chunks = try FileBuffers(file)
            request.body = .stream(chunks, length: .known(Int64(chunks.byteCount)))
            let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
            return try Self.answer(Data(buffer: try await response.body.collect(upTo: 1 << 20)))
        }
    }

    private static func answer(_ data: Data) throws -> SinkServer.Answer {
        try JSONDecoder().decode(SinkServer.Answer.self, from: data)
    }
}

/// A file as buffers of 128 KiB, as NIO's file system reads it, but without a thread hop.
private struct FileBuffers: AsyncSequence, Sendable {
    let file: URL
    let byteCount: Int

    init(_ file: URL) throws {
        self.file = file
        byteCount = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    }

    func makeAsyncIterator() -> Iterator { Iterator(file) }

    final class Iterator: AsyncIteratorProtocol {
        private let descriptor: CInt

        fileprivate init(_ file: URL) {
            descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        }

        deinit { close(descriptor) }

        func next() async throws -> ByteBuffer? {
            var buffer = ByteBufferAllocator().buffer(capacity: 128 << 10)
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 128 << 10) { bytes in
                Swift.max(0, read(descriptor, bytes.baseAddress, bytes.count))
            }
            return count > 0 ? buffer : nil
        }
    }
}

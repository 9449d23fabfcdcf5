// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import TestSupport
import Testing

/// Compressed bodies within and past the limits, collected and streamed.
struct CurlCompressionTests {
    /// 3 MiB of zeros in 3 KiB of gzip, made by Python's gzip module.
    private static let bombText =
        "H4sIAAAAAAACA+3BAQ0AAADCoPdPbQ43o" + String(repeating: "A", count: 4064) + "L4Nxk9yeQAAMAA="

    private static let chunkedGzip = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked"

    private let bomb: Data

    init() throws {
        bomb = try #require(Data(base64Encoded: Self.bombText))
    }

    private func answer(_ body: Data, coding field: String = "Content-Encoding") throws -> LoopbackServer {
        try .responding { _ in LoopbackResponse(headers: [(field, "gzip")], body: body) }
    }

    /// Answers with one chunk.
    ///
    /// - Parameter isHeld: Whether nothing more comes, not even the end of the body.
    private func answer(inChunk body: Data, _ fields: String, isHeld: Bool = false) throws -> LoopbackServer {
        try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(String(body.count, radix: 16))\r\n")
            try connection.send(body)
            if isHeld { return try connection.waitUntilPeerCloses() }
            try connection.send("\r\n0\r\n\r\n")
        }
    }

    private func collect(
        _ url: URL,
        _ delivery: ResponseDelivery,
        _ decompression: CurlConfiguration.Decompression = .standard
    ) async throws(ApiConnectorError) -> Data {
        var configuration = CurlConfiguration.patient
        configuration.decompression = decompression
        configuration.streamWindowByteCount = 64 << 10
        let provider = CurlProvider(configuration: configuration)
        let request = ApiRequest(url: url, delivery: delivery)
        return try await provider.response(for: request).body.collect(upTo: 16 << 20)
    }

    @Test func decompressesWithinTheLimit() async throws {
        let server = try answer(bomb)
        let error = await #expect(throws: ApiConnectorError.self) { try await collect(server.url(), .standard) }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the body expands to more than 100 times its compressed size")
        let generous = CurlConfiguration.Decompression.limited(ratio: 2000, byteCount: 1 << 30)
        #expect(try await collect(server.url(), .standard, generous) == Data(count: 3 << 20))
        #expect(try await collect(server.url(), .standard, .off) == bomb)
        #expect(server.requests.map { $0.header("Accept-Encoding")?.contains("gzip") } == [true, true, nil])
    }

    @Test(arguments: [ResponseDelivery.standard, .streamed])
    func respectsTheSizeLimit(_ delivery: ResponseDelivery) async throws {
        let server = try answer(bomb)
        let limit = CurlConfiguration.Decompression.limited(ratio: 2000, byteCount: 2 << 20)
        let error = await #expect(throws: ApiConnectorError.self) { try await collect(server.url(), delivery, limit) }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the decompressed body is longer than the limit of 2097152 bytes")
    }

    /// The window is full long before the limit is reached, so it is reached when libcurl goes on after a pause.
    @Test(.timeLimit(.minutes(10))) func refusesAStreamAlsoAfterAPause() async throws {
        // Nothing more comes that would wake the loop.
        let server = try answer(inChunk: bomb, Self.chunkedGzip, isHeld: true)
        let limit = CurlConfiguration.Decompression.limited(ratio: 10, byteCount: 1 << 30)
        let error = await #expect(throws: ApiConnectorError.self) { try await collect(server.url(), .streamed, limit) }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the body expands to more than 10 times its compressed size")
    }

    /// libcurl counts the bytes of a chunked body only after it has delivered what they expand to.
    @Test(arguments: [ResponseDelivery.standard, .streamed])
    func acceptsAValidBodyInChunks(_ delivery: ResponseDelivery) async throws {
        // One random byte in 240: about 80 to 1, within the limit, and all of it in the first read of a stream.
        var random = SplitMix64(seed: 12)
        var plain = Data(count: 8_000_000)
        for index in stride(from: 0, to: plain.count, by: 240) {
            plain[index] = UInt8.random(in: 0...255, using: &random)
        }
        let folder = try TemporaryFolder()
        try plain.write(to: folder.file("plain"))
        let body = try Shell("gzip -c '\(folder.file("plain").path)'").rest()
        try #require((80_000..<250_000).contains(body.count), "\(body.count)")
        let server = try answer(inChunk: body, Self.chunkedGzip)
        #expect(try await collect(server.url(), delivery) == plain)
    }

    @Test(arguments: [CurlConfiguration.Decompression.standard, .off])
    func refusesAnUnrequestedTransferCoding(_ decompression: CurlConfiguration.Decompression) async throws {
        let server = try answer(inChunk: bomb, "Transfer-Encoding: gzip, chunked")
        let error = await #expect(throws: ApiConnectorError.self) {
            try await collect(server.url(), .standard, decompression)
        }
        #expect(error?.kind == .malformedResponse)
        // From 8.14 on, libcurl itself refuses it.
        let details = [
            "the body came in the transfer coding gzip, which was not requested",
            "libcurl says: Unsolicited Transfer-Encoding (gzip) found (code 61)",
        ]
        #expect(details.contains(error?.detail ?? ""))
    }
}
#endif

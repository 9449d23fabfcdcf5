// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import TestSupport
import Testing

@testable import ApiConnector

#if os(Linux) && !Curl
#else
struct BodyCompressingTests {
    private let text = Data(String(repeating: "tea and more tea, ", count: 500).utf8)
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://shop.example.com/teas"))
    }

    /// The requests that arrived.
    private func sent(
        _ request: ApiRequest,
        from limit: Int = 1024,
        times count: Int = 1,
        answering answer: @escaping @Sendable (ApiRequest) -> TestConnectorResponse = { _ in .status(204) }
    ) async throws -> [ApiRequest] {
        let arrived = Locked<[ApiRequest]>([])
        let provider = TestConnector { request in
            arrived.withLock { $0.append(request) }
            return answer(request)
        }.compressingBodies(from: limit)
        for _ in 0..<count { _ = try await provider.response(for: request) }
        return arrived.withLock { $0 }
    }

    private func post(_ body: RequestBody, _ headers: HTTPHeaders = [:]) -> ApiRequest {
        ApiRequest(url: url, method: .post, headers: headers, body: body)
    }

    @Test func aServerDecompressesTheBody() async throws {
        let server = try LoopbackServer.responding { request in
            guard request.header("Content-Encoding") == "gzip" else { return .text("plain") }
            return .text("\(request.body.count) \(request.header("Content-Type") ?? "")")
        }
        let request = ApiRequest(url: server.url(), method: .post, body: .data(text, mediaType: .plainText))
        let response = try await SystemProvider().compressingBodies().response(for: request)
        let answer = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
        let packed = try #require(Gzip.compressed(text))
        #expect(answer == "\(packed.count) text/plain; charset=utf-8")
        #expect(packed.count < text.count / 20)
    }

    @Test func theDataIsGzip() throws {
        for data in [
            Data("a".utf8), text, Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }),
        ] {
            let packed = try #require(Gzip.compressed(data))
            let shell = try Shell("printf %s \(packed.base64EncodedString()) | base64 -d | gzip -dc | base64 -w0")
            #expect(shell.line() == data.base64EncodedString())
        }
        // The check value of the CRC catalog.
        #expect(Gzip.checksum(of: Data("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test func compressesBodiesFromTheMinimumSize() async throws {
        for (limit, isCompressed) in [(text.count, true), (text.count + 1, false)] {
            let requests = try await sent(post(.data(text)), from: limit)
            #expect(requests.count == 1)
            #expect((requests.first?.headers[.contentEncoding] == "gzip") == isCompressed)
        }
    }

    @Test func doesNotCompressIncompressibleCompressedOrStreamedBodies() async throws {
        let random = Data((0..<2000).map { _ in UInt8.random(in: 0...255) })
        let requests: [ApiRequest] = [
            post(.data(random)), post(.data(text), [.contentEncoding: "br"]),
            post(
                .stream(isReplayable: false) { [text] in
                    AsyncStream {
                        $0.yield(text); $0.finish()
                    }
                }
            ),
            ApiRequest(url: url),
        ]
        for request in requests {
            let arrived = try await sent(request)
            #expect(arrived.count == 1)
            #expect(arrived.first?.headers[.contentEncoding] == request.headers[.contentEncoding])
        }
    }

    @Test(arguments: [
        "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "x-amz-content-sha256", "x-amz-checksum-crc32",
        "x-ms-content-sha256",
        "X-Amz-Checksum-SHA256", "x-goog-hash", "x-ms-blob-content-md5", "X-Bz-Content-Sha1", "X-Hub-Signature-256",
    ])
    func doesNotCompressABodyWithAChecksum(_ name: String) async throws {
        var request = post(.data(text))
        request.headers[HTTPHeaders.Name(name)] = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
        let arrived = try await sent(request)
        #expect(arrived.count == 1)
        #expect(arrived.first?.headers.contains(.contentEncoding) == false)
        #expect(try arrived.first?.body.data() == text)
    }

    /// The chunks of the second body have signatures in them.
    @Test(arguments: [("UNSIGNED-PAYLOAD", "gzip"), ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", nil)])
    func compressesABodyWhoseChecksumFieldHasNone(_ value: String, _ coding: String?) async throws {
        var request = post(.data(text))
        request.headers["X-Amz-Content-SHA256"] = value
        let arrived = try await sent(request)
        #expect(arrived.first?.headers[.contentEncoding] == coding)
    }

    @Test func afterA415TheServerGetsUncompressedBodies() async throws {
        let requests = try await sent(post(.data(text)), times: 2) { request in
            request.headers.contains(.contentEncoding) ? .status(415) : .status(204)
        }
        #expect(requests.map { $0.headers[.contentEncoding] } == ["gzip", nil, nil])
        #expect(try requests.last?.body.data() == text)
    }

    /// The attempt that was lost may have been processed with the key.
    @Test func aPostKeepsItsIdempotencyKeyAfterA415() async throws {
        let keys = EventLog<String>()
        let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .zero, idempotencyKey: RetryPolicy.randomKey)
        let provider = TestConnector { request in
            keys.note(request.headers[.idempotencyKey] ?? "none")
            if keys.events.count == 1 { return .failing(.connectionLost) }
            return request.headers.contains(.contentEncoding) ? .status(415) : .status(204)
        }
        .retrying(policy)
        .compressingBodies()
        let response = try await provider.response(for: post(.data(text)))
        #expect(response.status == 204)
        #expect(response.request.earlierAttempts.map(\.kind) == [.connectionLost])
        #expect(keys.events.count == 3)
        #expect(Set(keys.events).count == 1)
    }

    /// In the second round, each server that was forgotten gets a compressed body again.
    @Test(arguments: [(256, false), (257, true)])
    func remembers256Servers(_ serverCount: Int, _ forgetsOne: Bool) async throws {
        let compressedCount = Locked(0)
        let provider = TestConnector { request in
            guard request.headers.contains(.contentEncoding) else { return .status(204) }
            compressedCount.withLock { $0 += 1 }
            return .status(415)
        }.compressingBodies()
        for _ in 0..<2 {
            for number in 0..<serverCount {
                var request = post(.data(text))
                request.url = try #require(URL(string: "http://shop\(number).example.com/teas"))
                _ = try await provider.response(for: request)
            }
        }
        #expect((compressedCount.withLock { $0 } > serverCount) == forgetsOne)
    }

    @Test func a415OfAnotherCauseDoesNotSwitchCompressionOff() async throws {
        let requests = try await sent(post(.data(text)), times: 2) { _ in .status(415) }
        #expect(requests.map { $0.headers[.contentEncoding] } == ["gzip", nil, "gzip", nil])
    }

    /// Inner wrappers get the compressed body.
    @Test func noTextHasASecretOfACompressedBody() async throws {
        let archive = ExchangeArchive()
        let padding = String(decoding: text, as: UTF8.self)
        let body = Data(#"{"padding":"\#(padding)","password":"hush4you-long"}"#.utf8)
        let provider = TestConnector { _ in .data(Data(#"{"message":"hush4you-long is wrong"}"#.utf8)) }
            .archived(in: archive)
            .compressingBodies()
        let response = try await provider.response(for: post(.data(body, mediaType: .json)))
        for try await _ in response.body {}
        #expect(response.request.headers[.contentEncoding] == "gzip")
        let exchange = try #require(archive.exchanges.first)
        let har = String(decoding: try archive.har(), as: UTF8.self)
        #expect(har.contains("is wrong"))
        for text in [har, exchange.curlCommand, response.request.curlCommand()] {
            #expect(text.contains("tea and more tea"))
            #expect(!text.contains("hush"), "\(text)")
            #expect(!text.contains("Content-Encoding"), "\(text)")
        }
        let redactor = response.request.redactor(from: .standard)
        #expect(redactor.redact(text: "hush4you-long is wrong") == "REDACTED is wrong")
    }

    @Test func withItsSecretsTheCommandHasTheCompressedBody() async throws {
        let requests = try await sent(post(.data(text)))
        let command = try #require(requests.first).curlCommand(redacting: nil)
        #expect(command.contains("Content-Encoding: gzip"))
        #expect(!command.contains("tea and more tea"))
    }

    @Test func aCompressedGrantAsksForTokens() async throws {
        let form = "grant_type=password&padding=" + String(repeating: "tea+", count: 500)
        let requests = try await sent(post(.data(Data(form.utf8), mediaType: .form)))
        #expect(requests.first?.headers[.contentEncoding] == "gzip")
        #expect(requests.first?.asksForTokens == true)
    }
}
#endif

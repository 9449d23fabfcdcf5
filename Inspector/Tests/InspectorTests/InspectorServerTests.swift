// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@testable import Inspector

/// Tests of the responses of the inspector's server, and of the clients that may get them.
@Suite struct InspectorServerTests {
    private let transport = SystemProvider()

    private func get(_ url: URL, headers: HTTPHeaders = HTTPHeaders()) async throws -> (ApiResponse, String) {
        let response = try await transport.response(for: ApiRequest(url: url, headers: headers))
        return (response, String(decoding: try await response.body.collect(upTo: 1_000_000), as: UTF8.self))
    }

    @Test func aWrongTokenGets403() async throws {
        try await Inspector().serving { inspector, address in
            let other = try #require(URL(string: "/\(String(inspector.token.reversed()))/", relativeTo: address))
            for url in [other.absoluteURL, try #require(URL(string: "/", relativeTo: address)).absoluteURL] {
                let (response, text) = try await get(url)
                #expect(response.status == 403)
                #expect(!text.contains(inspector.token))
            }
            let (response, text) = try await get(address)
            #expect(response.status == 200)
            #expect(text.hasPrefix("<!DOCTYPE html>"))
        }
    }

    @Test func tokensAreLongAndDiffer() {
        let tokens = (0..<100).map { _ in Inspector().token }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.count > 12 })
    }

    @Test func anotherHostOrSiteGets403() async throws {
        try await Inspector().serving { _, address in
            let refused: [HTTPHeaders] = [
                ["Host": "evil.example"], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ]
            for headers in refused {
                let (response, _) = try await get(address, headers: headers)
                #expect(response.status == 403, "\(headers)")
            }
        }
    }

    @Test func noOtherPageMayReadIt() async throws {
        try await Inspector().serving { _, address in
            let (response, _) = try await get(address, headers: ["Origin": "http://evil.example"])
            #expect(response.headers["Access-Control-Allow-Origin"] == nil)
            #expect(response.headers["Cross-Origin-Resource-Policy"] == "same-origin")
            #expect(response.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(response.headers["X-Content-Type-Options"] == "nosniff")
        }
    }

    @Test func theFeedHasWhatWasAndWhatComes() async throws {
        let inspector = Inspector()
        let provider = TestConnector { _ in .data(Data("tea".utf8)) }.inspected(by: inspector)
        let url = try #require(URL(string: "http://localhost/tea?token=hush-4f2a91c7"))
        _ = try await provider.response(for: ApiRequest(url: url))
        try await inspector.serving { _, address in
            let request = ApiRequest(url: address.appending(path: "changes"), delivery: .streamed)
            var chunks = try await transport.response(for: request).body.makeAsyncIterator()
            let first = String(decoding: try #require(await chunks.next()), as: UTF8.self)
            #expect(first.hasPrefix("data: [{"))
            #expect(first.contains("token=REDACTED"))
            #expect(!first.contains("hush"))
            _ = try await provider.response(for: ApiRequest(url: url))
            var text = ""
            while !text.contains("\"number\":2") {
                text += String(decoding: try #require(await chunks.next()), as: UTF8.self)
            }
        }
    }

    @Test func anExchangeAndTheArchiveAreServed() async throws {
        let inspector = Inspector(exchangeCount: 1)
        let provider = TestConnector { _ in .json(["name": "green"]) }.inspected(by: inspector)
        let url = try #require(URL(string: "http://localhost/tea"))
        for _ in 0..<2 { _ = try await provider.response(for: ApiRequest(url: url)) }
        try await inspector.serving { _, address in
            let (response, text) = try await get(address.appending(path: "exchanges/2"))
            #expect(response.status == 200)
            #expect(text.contains("curl"))
            #expect(text.contains("script.on(matching:"))
            for path in ["exchanges/1", "exchanges/0", "exchanges/-1", "exchanges/x", "nothing"] {
                #expect(try await get(address.appending(path: path)).0.status == 404, "\(path)")
            }
            let har = try await get(address.appending(path: "archive.har"))
            #expect(har.1.contains("\"version\" : \"1.2\""))
        }
    }

    @Test func withoutAnInspectorNothingIsKept() async throws {
        let provider = TestConnector { _ in .data(Data("tea".utf8)) }.inspected(by: nil)
        let url = try #require(URL(string: "http://localhost/tea"))
        #expect(try await provider.response(for: ApiRequest(url: url)).body.collected == Data("tea".utf8))
    }
}

extension Inspector {
    /// Serves the page while a closure runs.
    func serving(_ body: (Inspector, URL) async throws -> Void) async throws {
        let server = Task { try await run() }
        defer { server.cancel() }
        try await body(self, try await address())
    }
}

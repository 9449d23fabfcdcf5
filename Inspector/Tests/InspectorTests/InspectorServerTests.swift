// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import FlyingFox
import FlyingSocks
import Testing

@testable import Inspector

/// Tests of the responses of the inspector's server, and of the clients that may get them.
struct InspectorServerTests {
    private let transport = SystemProvider()

    private func get(_ url: URL, headers: ApiConnector.HTTPHeaders = [:]) async throws -> (ApiResponse, String) {
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
            let refused: [ApiConnector.HTTPHeaders] = [
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

    @Test func theFeedHasEarlierAndNewExchanges() async throws {
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

    @Test func theLibrarysOwnClientReadsTheFeed() async throws {
        let inspector = Inspector()
        let provider = TestConnector { _ in .data(Data("tea".utf8)) }.inspected(by: inspector)
        let url = try #require(URL(string: "http://localhost/tea"))
        _ = try await provider.response(for: ApiRequest(url: url))
        let api = NetworkConnector(environment: Place.local, provider: transport, router: Feed.self)
        try await inspector.serving { _, address in
            var lists: [[ApiConnector.JSONValue]] = []
            for try await event in api.stream(at: address.appending(path: "changes"), as: .events) {
                let list = try JSONDecoder().decode(ApiConnector.JSONValue.self, from: Data(event.data.utf8))
                lists.append(list.array ?? [])
                if lists.count == 1 { _ = try await provider.response(for: ApiRequest(url: url)) }
                if lists.last?.contains(where: { $0["number"] == 2 && $0["state"] == "finished" }) == true { break }
            }
            #expect(lists.first?.map { $0["number"].int } == [1])
            #expect(lists.first?.map { $0["url"].string } == [url.absoluteString])
            #expect(lists.dropFirst().joined().allSatisfy { $0["number"] == 2 })
        }
    }

    private enum Place: String, ApiEnvironment {
        case local = "127.0.0.1"
    }

    private enum Feed: String, ApiRouter {
        typealias EnvironmentType = Place
        case changes
    }

    @Test func itListensOnTheLoopbackInterfaceOnly() async throws {
        try await Inspector().serving { inspector, address in
            guard case .ip4(let host, let port)? = await inspector.server.listeningAddress else {
                Issue.record("the server has no IPv4 address")
                return
            }
            #expect(host == "127.0.0.1")
            #expect(address.host() == "127.0.0.1")
            #expect(address.port == Int(port))
        }
    }

    @Test func theAutomaticInspectorServesInDebugBuildsOnly() async throws {
        let provider = TestConnector { _ in .data(Data("tea".utf8)) }.inspected()
        let url = try #require(URL(string: "http://localhost/automatic"))
        _ = try await provider.response(for: ApiRequest(url: url))
        #if DEBUG
        let inspector = try #require(Inspector.automatic)
        #expect(inspector.archive.exchanges.map(\.url) == [url.absoluteString])
        let (response, _) = try await get(try await inspector.address())
        #expect(response.status == 200)
        #else
        #expect(Inspector.automatic == nil)
        #endif
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

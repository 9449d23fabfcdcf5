// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// No user gets a stored response for another user.
@Suite(.timeLimit(.minutes(10))) struct CacheSeparationTests {
    private let world = CacheWorld()
}

extension CacheSeparationTests {
    @Test func separatesResponsesByVary() async {
        let api = world.api()
        for language in ["de", "en"] {
            world.says(language, "max-age=60", ["Vary": "accept-language, X-A"])
            #expect(await api.text("/a", ["Accept-Language": language]) == language)
        }
        world.says("new", "max-age=60", ["Vary": "accept-language, X-A"])
        #expect(await api.text("/a", ["Accept-Language": "de"]) == "de, fresh")
        #expect(await api.text("/a", ["ACCEPT-LANGUAGE": "en", "X-B": "1"]) == "en, fresh")
        #expect(await api.text("/a", ["Accept-Language": "de", "X-A": ""]) == "new")
        #expect(await api.text("/a") == "new")
    }

    @Test func noUserGetsTheResponseOfAnother() async {
        let api = world.api()
        let users: [HTTPHeaders] = [
            HTTPHeaders(), ["Authorization": "Bearer 1"], ["Authorization": "Bearer 2"], ["Cookie": "id=1"],
            ["X-Api-Key": "1"], ["Authorization": "Bearer 1", "Cookie": "id=1"],
        ]
        for (number, user) in users.enumerated() {
            world.says("\(number)", "private, max-age=60")
            #expect(await api.text("/a", user) == "\(number)")
        }
        for (number, user) in users.enumerated() { #expect(await api.text("/a", user) == "\(number), fresh") }
    }

    @Test func storesAResponseToACredentialOnlyIfAllowed() async throws {
        let api = world.api()
        world.says("one", "max-age=60")
        for _ in 0..<2 { #expect(await api.text("/a", ["Authorization": "Bearer 1"]) == "one") }
        let query = [URLQueryItem(name: "access_token", value: "1")]
        for _ in 0..<2 { #expect(try await api.response(at: Endpoint(path: "/a", queryItems: query)).cacheHit == nil) }
        #expect(world.requests.count == 4)
    }

    @Test func storesNoResponseToACredentialOfAnInnerProvider() async {
        for credential in [ApiCredential.bearer("1"), .apiKey("1", inQuery: "k"), .apiKey("1", inHeader: "Shop")] {
            let inside = world.api(
                over: world.server.authenticating(by: .fixed(credential)).caching(in: MemoryCacheStorage())
            )
            world.says("one", "private, max-age=60")
            #expect(await inside.text() == "one")
            #expect(await inside.text() == "one")
            let outside = world.api(
                over: world.server.caching(in: MemoryCacheStorage()).authenticating(by: .fixed(credential))
            )
            #expect(await outside.text() == "one")
            #expect(await outside.text() == "one, fresh")
        }
    }

    @Test func storesNoResponseThatVariesByAnInnerProvidersField() async {
        let api = world.api(over: world.server.addingHeaders(["X-Tenant": "1"]).caching(in: MemoryCacheStorage()))
        world.says("one", "max-age=60", ["Vary": "X-Tenant"])
        for _ in 0..<2 { #expect(await api.text() == "one") }
        world.says("one", "max-age=60")
        #expect(await api.text() == "one")
        #expect(await api.text() == "one, fresh")
    }
}

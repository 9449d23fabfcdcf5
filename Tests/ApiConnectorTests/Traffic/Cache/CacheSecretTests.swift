// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A disk cache with a secret in every place of requests and responses.
///
/// No text contains the secret. A file contains it only in a body that the server has allowed to be stored.
@Suite(.timeLimit(.minutes(10))) struct CacheSecretTests {}

extension CacheSecretTests {
    /// An observer's events, as a program may print them.
    private final class Reader: CallObserver {
        let texts = Locked<[String]>([])

        func handle(_ event: CallEvent) {
            var dumped = ""
            dump(event, to: &dumped)
            texts.withLock {
                $0 += [
                    "\(event)", dumped, event.curlCommand(), "\(event.kind)",
                    "\(event.summary) \(event.summary.headers)",
                ]
            }
        }

        func take(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private static let credentials: [@Sendable (String) -> ApiCredential] = [
        { .bearer($0) }, { .basic(user: "ada", password: $0) }, { .apiKey($0, inHeader: "Shop") },
        { .apiKey($0, inQuery: "k") },
    ]

    @Test(arguments: PlantedSecret.Form.allCases, credentials.indices)
    func isInNoFileAndNoText(form: PlantedSecret.Form, credential: Int) async throws {
        let secret = PlantedSecret(form, core: "'\\/{}[]:,=+%40&")
        let folder = try TemporaryFolder()
        let reader = Reader()
        let storage = DiskCacheStorage(folder: folder.url)
        let world = CacheWorld()
        world.answers { request in
            #expect("\(request.headers.map(\.value)) \(request.url)".contains("zqk") || secret.form != .raw)
            let fields: HTTPHeaders = [
                "Cache-Control": "private, max-age=60, stale-while-revalidate=60", "ETag": "\"1\"",
                "Vary": "Authorization, Cookie, X-Auth-Token, Shop", "Set-Cookie": "id=\(secret.text)",
                "X-Auth-Token": secret.text, "Authentication-Info": secret.text,
            ]
            if request.headers.contains(.ifNoneMatch) { return .status(304, headers: fields) }
            return .data(Data("public".utf8), headers: fields)
        }
        let provider = world.server.observing(by: reader).deduplicating().caching(in: storage)
            .authenticating(by: .fixed(Self.credentials[credential](secret.text)))
            .observing(by: CallLog(from: .debug) { reader.take($1) }).observing(by: reader)
        let api = world.api(over: provider)
        let endpoint = Endpoint<ApiPath>(
            path: "/articles",
            queryItems: [URLQueryItem(name: "access_token", value: secret.text)],
            headers: ["Cookie": "id=\(secret.text)", "X-Auth-Token": secret.text]
        )
        for (use, hit) in [
            (CacheUse.standard, nil), (.standard, CacheHit.fresh), (.reload, .validated), (.cached, .fresh),
        ] {
            let response = try await api.response(at: endpoint, options: CallOptions(cacheUse: use))
            #expect(response.cacheHit == hit)
            reader.take("\(response)")
        }
        var unknown = endpoint
        unknown.path = "/b"
        do throws(ApiConnectorError) {
            _ = try await api.data(at: unknown, options: CallOptions(cacheUse: .cached))
        } catch {
            #expect(error.kind == .notCached)
            reader.take("\(error)")
        }
        #expect(reader.texts.withLock { $0 }.filter { !secret.traces(in: $0).isEmpty } == [])
        try await storage.finishWrites()
        #expect(folder.names.count == 3)
        for name in folder.names {
            let content = String(decoding: try #require(folder.data(name)), as: UTF8.self)
            #expect(secret.traces(in: name + content).isEmpty, "\(name)")
            for part in [secret.text, "Bearer", "ada", "Shop:", "http", "/articles"] {
                #expect(!content.contains(part))
            }
        }
    }

    @Test(arguments: ["Location", "Content-Location", "Link", "Refresh", "X-Next"], PlantedSecret.ofForms)
    func inAURLIsNotStored(field: String, secret: PlantedSecret) async throws {
        let folder = try TemporaryFolder()
        let storage = DiskCacheStorage(folder: folder.url)
        let world = CacheWorld()
        let address = "http://h/a?b=c&access_token=\(secret.text)"
        let value = ["Link": "<\(address)>; rel=next", "Refresh": "5; url=\(address)"][field] ?? address
        let api = world.api(storage: storage)
        func contents() async throws -> [String] {
            try await storage.finishWrites()
            return folder.names.compactMap { folder.data($0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        world.says("one", "private, max-age=60", [HTTPHeaders.Name(field): value])
        for _ in 0..<2 { #expect(await api.text() == "one") }
        #expect(try await contents().allSatisfy { secret.traces(in: $0).isEmpty })
        // One without it is kept, until it gets it by a 304.
        world.says("one", "private, no-cache", [HTTPHeaders.Name(field): "http://h/a?b=c", "ETag": "\"1\""])
        #expect(await api.text() == "one")
        world.says("", "private", [HTTPHeaders.Name(field): value, "ETag": "\"1\""], status: 304)
        #expect(await api.text() == "one, validated")
        #expect(try await contents().allSatisfy { secret.traces(in: $0).isEmpty })
        #expect(await api.text(use: .cached) == "notCached 0")
    }

    @Test(arguments: PlantedSecret.all) func inABodyIsStoredOnlyIfTheServerAllowsIt(_ secret: PlantedSecret)
        async throws
    {
        for (control, isKept) in [
            ("no-store", false), ("max-age=60, no-store", false), ("max-age=60", false), ("private, max-age=60", true),
        ] {
            let folder = try TemporaryFolder()
            let storage = DiskCacheStorage(folder: folder.url)
            let world = CacheWorld()
            world.says("{\"token\": \"\(secret.inJSON)\"}", control)
            let api = world.api(storage: storage)
            _ = await api.text("/a", ["Authorization": "Bearer 1"])
            _ = await api.text("/b", ["Authorization": "Bearer 1"], method: .post)
            try await storage.finishWrites()
            let contents = folder.names.compactMap { folder.data($0) }.map { String(decoding: $0, as: UTF8.self) }
            #expect(contents.contains { !secret.traces(in: $0).isEmpty } == isKept)
        }
    }
}

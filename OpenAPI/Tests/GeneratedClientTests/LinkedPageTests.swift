// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import ApiConnectorTesting
import Foundation
import Testing

/// Tests of pages that a link of the document describes, and of models that are compared.
struct LinkedPageTests {
    @Test func pagesFollowTheCursorThatTheDocumentNames() async throws {
        let files = NetworkConnector(
            environment: .production,
            provider: TestConnector { request in
                let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
                switch query.first(where: { $0.name == "after" })?.value {
                case nil: return .json(["names": ["a", "b"], "meta": ["last": 2]])
                case "2": return .json(["names": ["c"], "meta": ["last": nil]])
                case let other?: return .json(["names": [JSONValue.string(other)], "meta": [:]])
                }
            },
            router: FilesRouter.self
        )
        var names: [String] = []
        for try await page in files.pages(from: .history(), next: .history) { names += page.names }
        #expect(names == ["a", "b", "c"])
    }

    /// Which way leads to the next page.
    enum Way: CaseIterable {
        case cursor, link
    }

    @Test(arguments: Way.allCases)
    func eachPageIsRequestedLikeTheFirst(_ way: Way) async throws {
        let spy = Spy { request in
            let isFirst = request.url.query()?.contains("after") != true
            let body: JSONValue = ["names": [.string(isFirst ? "a+b/c==" : "last")], "meta": [:]]
            let link: HTTPHeaders = ["Link": "<?filter=x%2By&after=a%2Bb%2Fc%3D%3D>; rel=next"]
            return .json(body, headers: isFirst ? link : HTTPHeaders())
        }
        let files = NetworkConnector(
            environment: .production,
            provider: spy.provider.authenticating(by: ConstructsCredentials.token("t")),
            router: FilesRouter.self
        )
        let next: NextPage<FilesRouter, HistoryResponse> =
            switch way {
            case .cursor: .cursor("after") { page in page.value.names.first { $0 != "last" } }
            case .link: .link
            }
        let first = ApiCall<FilesRouter, HistoryResponse>.history(filter: "x+y", xTrace: "7", session: "s")
        var names: [String] = []
        for try await page in files.pages(from: first, next: next) { names += page.names }
        #expect(names == ["a+b/c==", "last"])
        let queries = ["filter=x%2By", "filter=x%2By&after=a%2Bb%2Fc%3D%3D"]
        #expect(spy.seen.map { $0.url.query(percentEncoded: true) } == queries)
        #expect(spy.seen.map { $0.headers[.authorization] } == ["Bearer t", "Bearer t"])
        #expect(spy.seen.map { $0.headers["X-Trace"] } == ["7", "7"])
        #expect(spy.seen.map { $0.headers[.cookie] } == ["session=s", "session=s"])
    }

    @Test func aSecondCursorReplacesTheFirst() async throws {
        let spy = Spy { request in
            let query = request.url.query() ?? ""
            let cursors: [String: JSONValue] = ["": 1, "after=1": 2]
            let body: JSONValue = ["names": [.string(query)], "meta": ["last": cursors[query] ?? .null]]
            return .json(body)
        }
        let files = NetworkConnector(environment: .production, provider: spy.provider, router: FilesRouter.self)
        var names: [String] = []
        for try await page in files.pages(from: .history(), next: .history) { names += page.names }
        #expect(names == ["", "after=1", "after=2"])
    }

    @Test func modelsThatTheConfigurationNamesAreCompared() throws {
        let json: JSONValue = [
            "name": "Tom", "kind": "cat", "born_at": "2026-02-28T10:00:00Z", "owner": ["name": "O", "age": 3],
            "parent": ["name": "P", "kind": "cat", "born_at": "2026-02-28T10:00:00Z", "owner": nil],
        ]
        let pet = try json.decoded(as: Pet.self)
        var other = pet
        #expect(Set([pet, other]).count == 1)
        other.owner = .null
        #expect(Set([pet, other]).count == 2)
        let said: JSONValue = ["type": "said", "text": "Hello"]
        #expect(try said.decoded(as: Event.self) == said.decoded(as: Event.self))
        #expect(try said.decoded(as: Event.self) != JSONValue.object(["type": "left"]).decoded(as: Event.self))
    }
}

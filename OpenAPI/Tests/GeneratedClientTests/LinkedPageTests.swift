// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// Tests of pages that a link of the document describes, and of models that are compared.
@Suite struct LinkedPageTests {
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

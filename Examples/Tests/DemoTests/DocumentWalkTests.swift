// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import BlogClient
import Testing
import Walkthrough

struct DocumentWalkTests {
    @Test func theDocumentsOwnBackendAnswersEachCallAndTheCannedResponseIsRefused() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        try await BlogDocument.withFile { file in
            let backend = try FakeBackend(openAPI: file)
            await walk.document(of: ("127.0.0.1", 8080), over: TestConnector(backend))
        }
        // Long lines are wrapped.
        let text = lines.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // Generated values differ from the blog's values, but each one is decoded.
        #expect(!text.contains("decodingFailed"))
        #expect(
            text.contains(
                "the response body at /0/slug: it is an integer, but the schema requires string "
                    + "(#/components/schemas/Post/properties/slug/type) in blog.json."
            )
        )
    }
}

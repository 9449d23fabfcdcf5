// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct FormDepthTests {
    private final class Level: Encodable, Sendable {
        let next: Level?
        let text = "x"

        init(_ next: Level?) { self.next = next }
    }

    private func form(depth: Int) throws -> String {
        let value = (1..<depth).reduce(Level(nil)) { level, _ in Level(level) }
        return String(decoding: try RequestBody.form(value).data(), as: UTF8.self)
    }

    @Test func aValueMayBeNested100LevelsDeep() throws {
        #expect(try form(depth: 100).split(separator: "&").count == 100)
        let error = #expect(throws: ApiConnectorError.self) { try form(depth: 101) }
        #expect(error?.detail.contains("it is nested more than 100 levels deep") == true)
    }
}

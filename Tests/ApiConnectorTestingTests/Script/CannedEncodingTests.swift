// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// A value that counts how often it is encoded and decoded in a test.
private struct Counted: Codable, Sendable, Equatable {
    final class Counts: Sendable {
        private let both = Locked((encoded: 0, decoded: 0))

        var encoded: Int { both.withLock { $0.encoded } }
        var decoded: Int { both.withLock { $0.decoded } }

        func countEncoding() { both.withLock { $0.encoded += 1 } }
        func countDecoding() { both.withLock { $0.decoded += 1 } }
    }

    @TaskLocal static var counts = Counts()

    let name: String

    init(name: String) {
        self.name = name
    }

    init(from decoder: any Decoder) throws {
        Self.counts.countDecoding()
        name = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        Self.counts.countEncoding()
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

struct CannedEncodingTests {
    private let value = Counted(name: "Sencha")

    /// The number of times that a call encodes and decodes the value of a canned response.
    private func counting(_ calls: (Counted.Counts) async throws -> Void) async throws -> [Int] {
        let counts = Counted.Counts()
        try await Counted.$counts.withValue(counts) { try await calls(counts) }
        return [counts.encoded, counts.decoded]
    }

    private func connection<Responses: ResponseSource>(
        _ responses: Responses,
        _ configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) -> NetworkConnector<TestConnector<Responses>, Shop> {
        NetworkConnector(environment: .test, provider: TestConnector(responses), configuration: configuration)
    }

    @Test func aValueIsEncodedAndDecodedOncePerResponse() async throws {
        let found = try await counting { _ in
            let source = ClosureSource { [value] in .json(value) }
            let api = connection(source)
            for _ in 0..<3 { #expect(try await api.value(Counted.self, at: .tea(id: 1)) == value) }
            let sorted = JSONEncoder()
            sorted.outputFormatting = .sortedKeys
            let other = connection(source, ConnectionConfiguration(encoder: sorted))
            #expect(try await other.value(Counted.self, at: .tea(id: 1)) == value)
        }
        #expect(found == [4, 4])
    }

    /// The first of the decodings is the check.
    @Test func aScriptsValueIsEncodedOnceForAllResponses() async throws {
        let found = try await counting { _ in
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 1), as: Counted.self).answer(value, times: 3)
            let api = connection(script)
            for _ in 0..<3 { #expect(try await api.value(Counted.self, at: .tea(id: 1)) == value) }
            #expect(await script.end().isEmpty)
        }
        #expect(found == [1, 4])
    }

    @Test func aScriptsValueIsEncodedAgainOnlyForCodersOfTheConnection() async throws {
        let found = try await counting { counts in
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 1)).answer(value, times: 2)
            #expect([counts.encoded, counts.decoded] == [1, 1])
            let api = connection(script, ConnectionConfiguration(json: JSONCoding(dates: .iso8601)))
            for _ in 0..<2 { #expect(try await api.value(Counted.self, at: .tea(id: 1)) == value) }
            #expect(await script.end().isEmpty)
        }
        // Each response is encoded and checked with these coders.
        #expect(found == [3, 5])
    }

    @Test func aScriptsJSONIsEncodedOnceForAllResponses() async throws {
        let found = try await counting { _ in
            let script = Script(for: Shop.self, in: .test)
            script.on(.tea(id: 1), as: Counted.self).answer(.json(value), times: 2)
            let api = connection(script)
            for _ in 0..<2 { #expect(try await api.value(Counted.self, at: .tea(id: 1)) == value) }
            #expect(await script.end().isEmpty)
        }
        #expect(found == [1, 3])
    }
}

private struct ClosureSource: ResponseSource {
    let make: @Sendable () -> TestConnectorResponse

    func response(for request: ApiRequest) async throws -> TestConnectorResponse { make() }
}

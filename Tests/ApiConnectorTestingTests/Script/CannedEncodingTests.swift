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
    private typealias Connection<Responses: ResponseSource> = NetworkConnector<TestConnector<Responses>, Shop>

    private let value = Counted(name: "Sencha")
    private let script = Script(for: Shop.self, in: .test)
    private let counts = Counted.Counts()

    private func connection<Responses: ResponseSource>(
        _ responses: Responses,
        _ configuration: ConnectionConfiguration = ConnectionConfiguration()
    ) -> Connection<Responses> {
        Connection(environment: .test, provider: TestConnector(responses), configuration: configuration)
    }

    /// Makes calls whose codings are counted.
    private func call(_ api: Connection<some ResponseSource>, times: Int) async throws {
        try await Counted.$counts.withValue(counts) {
            for _ in 0..<times {
                let found = try await api.value(Counted.self, at: .tea(id: 1))
                #expect(found == value)
            }
        }
    }

    private func declare(_ answers: ScriptedAnswers<Shop>, _ response: TestConnectorResponse? = nil) {
        Counted.$counts.withValue(counts) {
            _ = response.map { answers.answer($0, times: 2) } ?? answers.answer(value, times: 2)
        }
    }

    @Test func aValueIsEncodedAndDecodedOncePerResponse() async throws {
        let source = ClosureSource { [value] in .json(value) }
        try await call(connection(source), times: 3)
        #expect(counts.encoded == 3)
        #expect(counts.decoded == 3)
        let sorted = JSONEncoder()
        sorted.outputFormatting = .sortedKeys
        try await call(connection(source, ConnectionConfiguration(encoder: sorted)), times: 1)
        #expect(counts.encoded == 4)
        #expect(counts.decoded == 4)
    }

    /// The first of the decodings is the check.
    @Test func aScriptsValueIsEncodedOnceForAllResponses() async throws {
        declare(script.on(.tea(id: 1), as: Counted.self))
        #expect(counts.encoded == 1)
        #expect(counts.decoded == 1)
        try await call(connection(script), times: 2)
        #expect(counts.encoded == 1)
        #expect(counts.decoded == 3)
        #expect(await script.end().isEmpty)
    }

    /// Each response is encoded and checked with these coders.
    @Test func aScriptsValueIsEncodedAgainOnlyForCodersOfTheConnection() async throws {
        declare(script.on(.tea(id: 1)))
        let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601))
        try await call(connection(script, configuration), times: 2)
        #expect(counts.encoded == 3)
        #expect(counts.decoded == 5)
        #expect(await script.end().isEmpty)
    }

    @Test func aScriptsJSONIsEncodedOnceForAllResponses() async throws {
        declare(script.on(.tea(id: 1), as: Counted.self), .json(value))
        try await call(connection(script), times: 2)
        #expect(counts.encoded == 1)
        #expect(counts.decoded == 3)
        #expect(await script.end().isEmpty)
    }
}

private struct ClosureSource: ResponseSource {
    let make: @Sendable () -> TestConnectorResponse

    func response(for request: ApiRequest) async throws -> TestConnectorResponse { make() }
}

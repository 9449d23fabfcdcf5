// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Values that are nested deeply, or are no numbers, and a decoder other than the usual one.
struct UnusualDecoderTests {
    /// As deep as a value in a model may be.
    private static let most = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    private static let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)

    private final class OwnDecoder: JSONDecoder, @unchecked Sendable {}

    private struct Turned: Decodable, Sendable {
        let tail: JSONValue
    }

    private func failure<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ body: Data,
        _ decoder: JSONDecoder = JSONDecoder()
    ) async -> ApiConnectorError? {
        let transport = TestConnector { _ in .data(body, headers: ["Content-Type": "application/json"]) }
        let api = NetworkConnector(
            environment: Place(),
            provider: transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(decoder: decoder)
        )
        return await #expect(throws: ApiConnectorError.self) { try await api.value(type, at: Endpoint(path: "/p")) }
    }

    @Test func deepValuesNeedFoundationsOwnDecoder() async {
        let error = await failure(JSONValue.self, Data(Self.deep.utf8), OwnDecoder())
        #expect(error?.kind == .decodingFailed)
        #expect(error?.detail.contains("values are nested deeper than 64 levels") == true, "\(error?.detail ?? "")")
    }

    @Test func deepValuesNeedUTF8() async {
        let body = Data([0xFF, 0xFE]) + Data(Self.deep.utf8.flatMap { [$0, 0] })
        let error = await failure(JSONValue.self, body)
        #expect(error?.kind == .decodingFailed)
        #expect(error?.detail.contains("values are nested deeper than 64 levels") == true, "\(error?.detail ?? "")")
    }

    @Test func aDeepValueBelowAKeyThatAStrategyHasChangedFailsClearly() async {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            Key(stringValue: String((path.last?.stringValue ?? "").reversed()))
        }
        let error = await failure(Turned.self, Data(#"{"liat":\#(Self.deep)}"#.utf8), decoder)
        #expect(error?.kind == .decodingFailed)
        #expect(error?.detail.contains("values are nested deeper than 64 levels") == true, "\(error?.detail ?? "")")
    }

    @Test func aModelAroundADeepValueUsesTheDecodersSettings() async throws {
        struct Model: Decodable, Sendable {
            let at: Date
            let bytes: Data
            let share: Double
            let tail: JSONValue
        }
        let json = #"{"at":"1970-01-01T00:00:07Z","bytes":[1,2],"share":"nan","tail":\#(Self.most)}"#
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.dataDecodingStrategy = .deferredToData
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        let transport = TestConnector { _ in
            .data(Data(json.utf8), headers: ["Content-Type": "application/json"])
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(decoder: decoder)
        )
        let model = try await api.value(Model.self, at: Endpoint(path: "/p"))
        #expect(model.at == Date(timeIntervalSince1970: 7))
        #expect(model.bytes == Data([1, 2]))
        #expect(model.share.isNaN)
        #expect(model.tail.description == Self.most)
    }

    @Test func aNumberIsNeverNaNOrInfinite() throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        for text in ["nan", "inf", "-inf"] {
            let json = Data("[\"\(text)\"]".utf8)
            #expect(try decoder.decode([Double].self, from: json).count == 1)
            #expect(throws: DecodingError.self) { try decoder.decode([JSONNumber].self, from: json) }
        }
    }
}

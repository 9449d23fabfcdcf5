// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// JSON of any depth decodes in linear time, or fails with a clear error.
struct DeepJSONTests {
    private struct Model: Decodable, Equatable, Sendable {
        let id: Int
        let extraParts: [String: JSONValue]
    }

    private struct Lossy: Decodable {
        let value: JSONValue?

        enum CodingKeys: CodingKey {
            case value
        }

        init(from decoder: any Decoder) throws {
            value = try? decoder.container(keyedBy: CodingKeys.self).decode(JSONValue.self, forKey: .value)
        }
    }

    private struct Wrapped: ApiRouter {
        typealias EnvironmentType = Place
        typealias EnvelopeType = DataEnvelope<CodedFailure>
        let path = "/p"
    }

    /// A chain of arrays and objects with a leaf of each kind.
    private static func chain(_ depth: Int) -> String {
        (0..<depth).reduce(#"["é\ud83d\udd11\n", 1, -2.50, 1e3, 18446744073709551615, true, null]"#) { inner, number in
            number.isMultiple(of: 2) ? #"{"a b":\#(inner)}"# : "[\(inner)]"
        }
    }

    private func answer<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ json: String,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        let transport = TestConnector { _ in
            .data(Data(json.utf8), headers: ["Content-Type": "application/json"])
        }
        let api = NetworkConnector(
            environment: Place(),
            provider: transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(decoder: decoder)
        )
        return try await api.value(type, at: Endpoint(path: "/p"))
    }

    /// It took 9.8 seconds, and each doubling of the depth took eight times as long.
    @Test func a32KilobyteBodyNested400DeepDecodes() async throws {
        let chain = String(repeating: "[", count: 399) + String(repeating: "]", count: 399)
        let json = "[" + Array(repeating: chain, count: 40).joined(separator: ",") + "]"
        let value = try await answer(JSONValue.self, json)
        #expect(value.array?.count == 40)
        #expect(value.description == json)
    }

    @Test(arguments: [1, 15, 16, 17, 18, 62, 63])
    func aDeepValueIsTheSameAtEveryPlace(depth: Int) async throws {
        let text = Self.chain(depth)
        let wanted = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(try await answer(JSONValue.self, text) == wanted)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let model = try await answer(Model.self, #"{"id":1,"extra_parts":{"x_y":\#(text),"z":2}}"#, decoder: decoder)
        #expect(model == Model(id: 1, extraParts: ["x_y": wanted, "z": 2]))
        #expect(try await answer(Lossy.self, #"{"value":\#(text)}"#).value == wanted)
        let transport = TestConnector { _ in .data(Data(#"{"data":[0,\#(text)]}"#.utf8)) }
        let api = NetworkConnector(environment: Place(), provider: transport, router: Wrapped.self)
        #expect(try await api.value([JSONValue].self, at: Wrapped()) == [0, wanted])
        #expect(try JSONValue.array([wanted]).decoded(as: [JSONValue].self) == [wanted])
    }

    /// A whole body is parsed, so the limit of values in a model does not apply to it.
    @Test(arguments: [64, 100, 508])
    func aValueThatIsTheWholeBodyMayBeDeeperThanOneInAModel(depth: Int) async throws {
        let text = Self.chain(depth)
        #expect(try await answer(JSONValue.self, text) == JSONValue(json: Data(text.utf8)))
        for (type, body) in [
            (Model.self as any (Decodable & Sendable).Type, #"{"id":1,"extraParts":{"x":\#(text)}}"#),
            ([JSONValue].self, "[0,\(text)]"),
        ] {
            let error = await failure(type, body)
            #expect(error?.kind == .decodingFailed)
            #expect(error?.detail.contains("values are nested deeper than 64 levels") == true, "\(error?.detail ?? "")")
        }
    }

    private func failure(_ type: any (Decodable & Sendable).Type, _ body: String) async -> ApiConnectorError? {
        await #expect(throws: ApiConnectorError.self) { try await answer(type, body) }
    }

    private struct Turned: Decodable {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let tail: JSONValue?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let inner = try container.decodeIfPresent(Turned.self, forKey: Key(stringValue: "rennI"))
            tail = try inner?.tail ?? container.decodeIfPresent(JSONValue.self, forKey: Key(stringValue: "liaT"))
        }
    }

    /// Only the levels within the value count.
    @Test func aShallowValueInADeepModelKeepsTheCallersKeys() async throws {
        let json = (0..<100).reduce(#"{"Tail":[1]}"#) { inner, _ in #"{"Inner":\#(inner)}"# }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom {
            Turned.Key(stringValue: String(($0.last?.stringValue ?? "").reversed()))
        }
        #expect(try await answer(Turned.self, json, decoder: decoder).tail == [1])
    }

    @Test(arguments: ["[", #"{"a":"#])
    func tenThousandLevelsFailWithAClearError(opening: String) async throws {
        let closing = opening == "[" ? "]" : "}"
        let json = String(repeating: opening, count: 10_000) + "0" + String(repeating: closing, count: 10_000)
        do {
            _ = try await answer(JSONValue.self, json)
            Issue.record("it decoded")
        } catch let error as ApiConnectorError {
            #expect(error.kind == .decodingFailed)
            #expect(error.detail.hasSuffix("it is nested deeper than 512 levels"), "\(error.detail)")
        }
        let flaw = #expect(throws: JSONFlaw.self) { try JSONValue(json: Data(json.utf8)) }
        #expect(flaw?.kind == .tooDeep)
    }

    @Test func theParserReadsWhatFoundationsDecoderReads() throws {
        let texts = [
            "null", " true ", "false", "0", "-0", "-0.0", "1", "-1", "1.0", "1.50", "1e5", "1E-5", "-1.25e+2",
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
            "123456789012345678901234567890.5", "0.1", "1e200", "1e400", "01", "-01", "1.", ".5", "+1", "-", "", " ",
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u00e9\ud83d\udd11\u0000""#, #""\ud800""#, #""\udc00""#,
            #""\ud800\u0041""#, #""\x""#, #""\u12""#, #""é🔑""#, "\"a\tb\"", "\"a", "[]", "{}", "[1,2]", "[1,]", "[,]",
            "[1 2]", #"{"a":1,"a":2}"#, #"{"a":1,}"#, #"{"a" : [ {"b":null} ] }"#, "{a:1}", #"{"a"}"#, "[1]x", "nul",
            "\u{FEFF}[1]", "[", "{", #"{"a":"#, "[[[]]", "tru", "[1]\n", "NaN", "[Infinity]",
        ]
        for text in texts {
            let wanted = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
            let found = try? JSONValue(json: Data(text.utf8))
            #expect(found == wanted, "\(text)")
        }
        #expect(texts.count > 50)
        let invalid = Data([0x22, 0xFF, 0x22])
        #expect((try? JSONValue(json: invalid)) == nil)
    }
}

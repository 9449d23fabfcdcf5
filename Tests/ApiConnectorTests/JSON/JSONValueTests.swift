// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct JSONValueTests {
    private static let sample: JSONValue = [
        "name": "Rex", "legs": 4, "weight": 7.5, "isGood": true, "owner": nil,
        "tags": ["small", ["deep": [1, 2]]], "description": "a pug", "id": 18_446_744_073_709_551_615,
    ]

    private func parsed(_ json: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    }

    @Test func isReturnedUnchangedByACall() async throws {
        let json = #"{"b":[1,{"c":null}],"snake_key":9007199254740993,"a":"ü\n\"/"}"#
        let api = NetworkConnector<TestConnector<ClosureResponses>, Router>(
            environment: .test,
            provider: TestConnector { _ in .data(Data(json.utf8), headers: ["Content-Type": "application/json"]) }
        )
        let value = try await api.value(JSONValue.self, at: .me)
        #expect(value == ["a": "ü\n\"/", "b": [1, ["c": nil]], "snake_key": 9_007_199_254_740_993])
        #expect(value.description == #"{"a":"ü\n\"/","b":[1,{"c":null}],"snake_key":9007199254740993}"#)
    }

    @Test func failsForANumberThatNoTypeHolds() async throws {
        let api = NetworkConnector<TestConnector<ClosureResponses>, Router>(
            environment: .test,
            provider: TestConnector { _ in .data(Data(#"{"a":[{"b":1e400}]}"#.utf8)) }
        )
        let error = try await #require(throws: ApiConnectorError.self) { try await api.value(JSONValue.self, at: .me) }
        #expect(error.kind == .decodingFailed)
        #expect(error.detail.contains("JSONValue"))
    }

    @Test(arguments: [
        "null", "true", "\"\"", "0", "[]", "{}", "[[[]],{}]", #"{"":{"":[null,false]}}"#, #"["1",1,1.5,"true"]"#,
    ])
    func writesWhatItRead(_ json: String) throws {
        let value = try parsed(json)
        #expect(value.description == json)
        #expect(String(decoding: try JSONEncoder().encode(value), as: UTF8.self) == json)
    }

    @Test func keepsKeysThatTheDecoderConvertsForModels() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let value = try decoder.decode(JSONValue.self, from: Data(#"{"snake_key":{"other_key":1}}"#.utf8))
        #expect(value == ["snake_key": ["other_key": 1]])
    }

    @Test func neverTrapsOnAMissingPath() {
        let value = Self.sample
        #expect(value["tags"][1]["deep"][1].int == 2)
        for nothing in [
            value["tags"][2], value["tags"][-1], value["tags"][Int.max], value["tags"][Int.min], value["tags"]["x"],
            value[0], value["x"]["y"][0], JSONValue.null[0], value["name"][0], value["owner"],
        ] {
            #expect(nothing.isNull)
        }
    }

    @Test func givesEachTypeToItsOwnAccessorOnly() {
        let value = Self.sample
        #expect(value["name"].string == "Rex")
        #expect(value["legs"].int == 4)
        #expect(value["legs"].double == 4)
        #expect(value["weight"].double == 7.5)
        #expect(value["weight"].int == nil)
        #expect(value["id"].int == nil)
        #expect(value["id"].number?.integer(as: UInt64.self) == .max)
        #expect(value["isGood"].bool == true)
        #expect(value["tags"].array?.count == 2)
        #expect(value["tags"][1].object?.keys.sorted() == ["deep"])
        #expect(value["description"].string == "a pug")
        for (key, child) in value.object ?? [:] {
            let answers = [
                child.string != nil, child.double != nil, child.bool != nil, child.array != nil, child.object != nil,
                child.isNull,
            ]
            #expect(answers.count(where: { $0 }) == 1, "\(key)")
        }
        #expect(value.object?.count == 8)
    }

    @Test func takesTheLastValueOfAKeyThatRepeats() {
        let value: JSONValue = ["a": 1, "a": 2]
        #expect(value == ["a": 2])
        let name = "x"
        #expect("\(name)y" as JSONValue == .string("xy"))
    }

    @Test func escapesTheCharactersThatJSONRequires() throws {
        let text = String(String.UnicodeScalarView((0..<0x80).compactMap { UnicodeScalar($0) })) + "\u{2028}é🐶"
        let value = JSONValue.array([.string(text), .object([text: .null])])
        #expect(try parsed(value.description) == value)
        #expect(
            JSONValue.string("\u{0}\u{1F}\u{8}\t\n\u{C}\r\"\\/\u{7F}").description == #""\u0000\u001F\b\t\n\f\r\"\\/"#
                + "\u{7F}\""
        )
    }

    @Test func decodesAsAModel() throws {
        let value: JSONValue = [["title": "Hello", "description": "The first one"]]
        #expect(try value.decoded(as: [Post].self) == [.sample])
        #expect(try value[0].decoded() == Post.sample)
        #expect(try JSONValue.number(JSONNumber(UInt64.max)).decoded(as: UInt64.self) == .max)
        let error = try #require(throws: ApiConnectorError.self) {
            try (["title": 1] as JSONValue).decoded(as: Post.self)
        }
        #expect(error.kind == .decodingFailed)
        #expect(
            error.detail
                == "the value does not decode as Post: at \"title\" a value of type String was expected; found 1"
        )
    }
}

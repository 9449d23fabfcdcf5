// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Values that a schema of one keyword accepts and refuses.
struct KeywordCase: Sendable, CustomTestStringConvertible {
    let schema: String
    let accepted: [String]
    let refused: [String]

    init(_ schema: String, accepts accepted: [String], refuses refused: [String]) {
        self.schema = schema
        self.accepted = accepted
        self.refused = refused
    }

    var testDescription: String { schema }

    static let all = scalars + containers + combinations

    private static let scalars = [
        KeywordCase("true", accepts: ["1", "null"], refuses: []),
        KeywordCase("false", accepts: [], refuses: ["1", "null"]),
        KeywordCase(#"{"type":"integer"}"#, accepts: ["1", "1.0", "-3e2"], refuses: ["1.5", "\"1\"", "true", "null"]),
        KeywordCase(#"{"type":"number"}"#, accepts: ["1", "1.5"], refuses: ["\"1\"", "[]"]),
        KeywordCase(#"{"type":"string"}"#, accepts: ["\"\""], refuses: ["1", "{}"]),
        KeywordCase(#"{"type":"boolean"}"#, accepts: ["true"], refuses: ["0", "\"true\""]),
        KeywordCase(#"{"type":["array","null"]}"#, accepts: ["[]", "null"], refuses: ["{}", "false"]),
        KeywordCase(#"{"type":"object"}"#, accepts: ["{}"], refuses: ["[]", "null"]),
        KeywordCase(#"{"enum":[1,"a",null]}"#, accepts: ["1.0", "\"a\"", "null"], refuses: ["true", "\"A\"", "[]"]),
        KeywordCase(#"{"const":{"a":[1]}}"#, accepts: [#"{"a":[1.0]}"#], refuses: [#"{"a":[2]}"#, "{}"]),
        KeywordCase(#"{"const":"\u00e4"}"#, accepts: [#""ä""#], refuses: [#""a\u0308""#]),
        KeywordCase(#"{"const":null}"#, accepts: ["null"], refuses: ["0"]),
        KeywordCase(#"{"minimum":1.1}"#, accepts: ["1.1", "2", "\"0\""], refuses: ["1", "-5"]),
        KeywordCase(#"{"maximum":3}"#, accepts: ["3.0", "2"], refuses: ["3.5"]),
        KeywordCase(#"{"exclusiveMinimum":1}"#, accepts: ["1.1"], refuses: ["1", "0"]),
        KeywordCase(#"{"exclusiveMaximum":1}"#, accepts: ["0.9"], refuses: ["1", "2"]),
        KeywordCase(#"{"multipleOf":0.01}"#, accepts: ["4.35", "0", "-7"], refuses: ["4.351"]),
        KeywordCase(#"{"minLength":2}"#, accepts: ["\"ab\"", "1"], refuses: ["\"a\"", "\"💩\""]),
        KeywordCase(#"{"maxLength":2}"#, accepts: ["\"💩💩\""], refuses: ["\"abc\""]),
        KeywordCase(#"{"pattern":"^a\\d+"}"#, accepts: ["\"a1b\"", "5"], refuses: ["\"ab\"", "\"ba1\""]),
        KeywordCase(#"{"pattern":"é$"}"#, accepts: ["\"caf\\u00e9\""], refuses: ["\"cafe\""]),
    ]

    private static let containers = [
        KeywordCase(#"{"minItems":1}"#, accepts: ["[1]", "{}"], refuses: ["[]"]),
        KeywordCase(#"{"maxItems":1}"#, accepts: ["[1]"], refuses: ["[1,2]"]),
        KeywordCase(#"{"uniqueItems":true}"#, accepts: ["[1,2]", "[1,true]"], refuses: ["[1,1.0]", "[{},{}]"]),
        KeywordCase(#"{"items":{"type":"integer"}}"#, accepts: ["[1,2]", "[]", "{}"], refuses: ["[1,\"a\"]"]),
        KeywordCase(
            #"{"prefixItems":[{"type":"integer"}],"items":false}"#,
            accepts: ["[1]", "[]"],
            refuses: ["[1,2]", "[\"a\"]"]
        ),
        KeywordCase(#"{"contains":{"const":1}}"#, accepts: ["[0,1]"], refuses: ["[0]", "[]"]),
        KeywordCase(#"{"contains":{"const":1},"minContains":2}"#, accepts: ["[1,1]"], refuses: ["[1,0]"]),
        KeywordCase(#"{"contains":{"const":1},"maxContains":1}"#, accepts: ["[1,0]"], refuses: ["[1,1]"]),
        KeywordCase(#"{"contains":{"const":1},"minContains":0}"#, accepts: ["[]"], refuses: []),
        KeywordCase(#"{"required":["a"]}"#, accepts: [#"{"a":null}"#, "[]"], refuses: ["{}", #"{"A":1}"#]),
        KeywordCase(#"{"minProperties":1}"#, accepts: [#"{"a":1}"#], refuses: ["{}"]),
        KeywordCase(#"{"maxProperties":1}"#, accepts: ["{}"], refuses: [#"{"a":1,"b":2}"#]),
        KeywordCase(
            #"{"properties":{"a":{"type":"string"}}}"#,
            accepts: [#"{"a":""}"#, #"{"b":1}"#],
            refuses: [#"{"a":1}"#]
        ),
        KeywordCase(
            #"{"properties":{"a":true},"patternProperties":{"^x-":true},"additionalProperties":false}"#,
            accepts: [#"{"a":1,"x-b":2}"#],
            refuses: [#"{"b":1}"#]
        ),
        KeywordCase(
            #"{"patternProperties":{"^n":{"type":"number"}}}"#,
            accepts: [#"{"n1":1,"a":""}"#],
            refuses: [#"{"n1":""}"#]
        ),
        KeywordCase(#"{"additionalProperties":{"type":"number"}}"#, accepts: [#"{"a":1}"#], refuses: [#"{"a":""}"#]),
        KeywordCase(#"{"propertyNames":{"maxLength":1}}"#, accepts: [#"{"a":1}"#], refuses: [#"{"ab":1}"#]),
        KeywordCase(
            #"{"dependentRequired":{"a":["b"]}}"#,
            accepts: [#"{"b":1}"#, #"{"a":1,"b":1}"#],
            refuses: [#"{"a":1}"#]
        ),
        KeywordCase(#"{"dependentSchemas":{"a":{"required":["b"]}}}"#, accepts: ["{}"], refuses: [#"{"a":1}"#]),
    ]

    private static let combinations = [
        KeywordCase(#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, accepts: ["1", "2"], refuses: ["0", "3"]),
        KeywordCase(#"{"anyOf":[{"type":"string"},{"minimum":1}]}"#, accepts: ["\"a\"", "1"], refuses: ["0"]),
        KeywordCase(#"{"oneOf":[{"minimum":1},{"maximum":3}]}"#, accepts: ["0", "4"], refuses: ["2"]),
        KeywordCase(#"{"not":{"type":"string"}}"#, accepts: ["1"], refuses: ["\"a\""]),
        KeywordCase(
            #"{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"multipleOf":2}}"#,
            accepts: ["20", "4"],
            refuses: ["15", "5"]
        ),
        KeywordCase(
            ##"{"$ref":"#/$defs/a","maximum":5,"$defs":{"a":{"minimum":1}}}"##,
            accepts: ["3"],
            refuses: ["0", "6"]
        ),
        KeywordCase(##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","minimum":1}}}"##, accepts: ["3"], refuses: ["0"]),
        KeywordCase(
            ##"{"properties":{"a":{"$ref":"#"}},"required":["b"]}"##,
            accepts: [#"{"b":1}"#],
            refuses: [#"{"b":1,"a":{}}"#]
        ),
        KeywordCase(
            #"{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}"#,
            accepts: [#"{"a":1}"#],
            refuses: [#"{"b":1}"#]
        ),
        KeywordCase(
            #"{"anyOf":[{"prefixItems":[true]},false],"unevaluatedItems":{"type":"string"}}"#,
            accepts: [#"[1,"a"]"#],
            refuses: ["[1,2]"]
        ),
    ]
}

/// The root of a schema.
func node(_ schema: String) throws -> JSONNode {
    JSONDocument(try #require(JSONValue(document: Data(schema.utf8)))).rootNode
}

/// The violations of a schema by a value in JSON.
func violations(
    of value: String,
    _ schema: String,
    _ checker: SchemaChecker = SchemaChecker()
) throws -> [SchemaViolation] {
    checker.violations(of: try #require(JSONValue(document: Data(value.utf8))), against: try node(schema))
}

@Suite(.timeLimit(.minutes(10)))
struct SchemaCheckerTests {}

extension SchemaCheckerTests {
    @Test(arguments: KeywordCase.all)
    func aKeywordAcceptsAndRefuses(_ keyword: KeywordCase) throws {
        for value in keyword.accepted {
            #expect(try violations(of: value, keyword.schema) == [], "\(value)")
        }
        for value in keyword.refused {
            #expect(try !violations(of: value, keyword.schema).isEmpty, "\(value)")
        }
    }

    @Test func theSmallestIntegerIsAMultipleOfANegativeNumber() throws {
        #expect(try violations(of: "-9223372036854775808", #"{"multipleOf":-1}"#).isEmpty)
    }

    @Test func aViolationNamesBothPlaces() throws {
        let schema = ##"{"properties":{"a/b":{"items":{"$ref":"#/$defs/x~y"}}},"$defs":{"x~y":{"type":"string"}}}"##
            .replacing("#/$defs/x~y", with: "#/$defs/x~0y")
        #expect(
            try violations(of: #"{"a/b":["c",5]}"#, schema) == [
                SchemaViolation(
                    schema: "#/$defs/x~0y/type",
                    value: "/a~1b/1",
                    sentence: "it is an integer, but the schema requires string"
                )
            ]
        )
    }

    @Test func theNearestAlternativeIsNamed() throws {
        let schema = #"""
            {"oneOf":[{"type":"string"},{"properties":{"a":{"properties":{"b":{"type":"string"}}}},"type":"object"}]}
            """#
        #expect(
            try violations(of: #"{"a":{"b":1}}"#, schema).map(\.sentence) == [
                "no alternative matches; in the nearest one, at /a/b it is an integer, but the schema requires string "
                    + "(#/oneOf/1/properties/a/properties/b/type)"
            ]
        )
    }

    @Test(arguments: [
        // The discriminator names an alternative, by its name or by its mapping.
        (
            ##"{"kind":"cat","a":{"b":1},"lives":"9"}"##,
            ##"{"oneOf":[{"$ref":"#/dog"},{"$ref":"#/cat"}],"discriminator":{"propertyName":"kind"}"##
        ),
        (
            ##"{"kind":"c","a":{"b":1},"lives":"9"}"##,
            ##"{"oneOf":[{"$ref":"#/dog"},{"$ref":"#/cat"}],"##
                + ##""discriminator":{"propertyName":"kind","mapping":{"c":"#/cat"}}"##
        ),
        // A constant in a member excludes the other alternative.
        (
            ##"{"kind":"cat","a":{"b":1},"lives":"9"}"##,
            ##"{"anyOf":[{"$ref":"#/cat"},{"allOf":[{"$ref":"#/dog"}],"properties":{"kind":{"const":"dog"}}}]"##
        ),
        // The second alternative has more violations.
        (##"{"lives":"9"}"##, ##"{"anyOf":[{"$ref":"#/cat"},{"required":["x","y"]}]"##),
    ])
    func theAlternativeThatIsMeantIsTheNearest(_ value: String, _ alternatives: String) throws {
        let schema =
            alternatives + ##","cat":{"properties":{"lives":{"type":"integer"}}},"##
            + ##""dog":{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}}"##
        #expect(
            try violations(of: value, schema).map(\.sentence) == [
                "no alternative matches; in the nearest one, at /lives it is a string, but the schema requires integer "
                    + "(#/cat/properties/lives/type)"
            ]
        )
    }

    @Test func aReferenceToNothingOrToItselfIsAViolation() throws {
        #expect(
            try violations(of: "1", ##"{"$ref":"#/nothing"}"##).map(\.sentence) == [
                "the schema #/nothing is not in the document"
            ]
        )
        #expect(
            try violations(of: "1", ##"{"allOf":[{"$ref":"#"}]}"##).map(\.sentence) == [
                "the schema # refers only to itself"
            ]
        )
    }

    @Test func aDocumentIsReadWithoutRounding() {
        let text = "\u{FEFF}[9007199254740993,0.1,-0,1e2,18446744073709551615]"
        let value = JSONValue(document: Data(text.utf8))
        #expect(value?.description == "[9007199254740993,0.1,0,100,18446744073709551615]")
        #expect(JSONValue(document: Data("[1,".utf8)) == nil)
    }

    @Test func openAPI30HasItsOwnRules() throws {
        let checker = SchemaChecker(dialect: .openAPI30)
        #expect(try violations(of: "null", #"{"type":"string","nullable":true}"#, checker).isEmpty)
        #expect(try !violations(of: "null", #"{"type":"string","nullable":true}"#).isEmpty)
        #expect(try !violations(of: "1", #"{"minimum":1,"exclusiveMinimum":true}"#, checker).isEmpty)
        #expect(try violations(of: "2", #"{"minimum":1,"exclusiveMinimum":true}"#, checker).isEmpty)
        // Nothing beside a reference counts.
        #expect(try violations(of: "1", ##"{"$ref":"#/a","type":"string","a":{}}"##, checker).isEmpty)
    }

    @Test func aMemberOfTheOtherDirectionMayBeMissing() throws {
        let schema = #"""
            {"required":["id","secret"],"properties":{"id":{"readOnly":true},"secret":{"writeOnly":true}}}
            """#
        #expect(try violations(of: #"{"secret":1}"#, schema, SchemaChecker(direction: .request)).isEmpty)
        #expect(try violations(of: #"{"id":1}"#, schema, SchemaChecker(direction: .response)).isEmpty)
        #expect(try violations(of: #"{"id":1}"#, schema, SchemaChecker(direction: .request)).count == 1)
        #expect(try violations(of: "{}", schema).count == 2)
    }

    @Test(arguments: [
        // The schema that describes the member is another part of `allOf`, or around the alternatives.
        ##"{"allOf":[{"$ref":"#/base"}],"required":["id"],"base":{"properties":{"id":{"readOnly":true}}}}"##,
        ##"{"allOf":[{"required":["id"]},{"properties":{"id":{"$ref":"#/id"}}}],"id":{"readOnly":true}}"##,
        ##"{"properties":{"id":{"readOnly":true}},"oneOf":[{"required":["id"]}]}"##,
        ##"{"oneOf":[{"allOf":[{"$ref":"#/base"},{"required":["id"]}]}],"base":{"properties":{"id":{"readOnly":true}}}}"##,
    ])
    func aMemberOfTheOtherDirectionIsFoundInOtherParts(_ schema: String) throws {
        #expect(try violations(of: "{}", schema, SchemaChecker(direction: .request)) == [])
        #expect(try violations(of: "{}", schema, SchemaChecker(direction: .response)).count == 1)
        let nested = #"{"properties":{"id":{"readOnly":true},"a":\#(schema.replacing("#/", with: "#/properties/a/"))}}"#
        #expect(try violations(of: #"{"a":{}}"#, nested, SchemaChecker(direction: .response)).count == 1)
        let other = #"{"properties":{"id":{"readOnly":true},"a":{"required":["id"]}}}"#
        #expect(try violations(of: #"{"a":{}}"#, other, SchemaChecker(direction: .request)).count == 1)
    }

    @Test func anAlternativeWithOnlyIgnoredViolationsAcceptsTheValue() throws {
        let schema = ##"{"anyOf":[{"type":"string"},{"properties":{"a":{"$ref":"#/a"}}}],"a":{"type":"integer"}}"##
        let value = #"{"a":"x"}"#
        #expect(try violations(of: value, schema).count == 1)
        for pointer in ["#/a", "#/a/type", "#/anyOf", "#/anyOf/0"] {
            #expect(try violations(of: value, schema, SchemaChecker(ignored: [pointer])) == [], "\(pointer)")
        }
        for pointer in ["#/an", "#/anyOf/1/properties", "#/a/typ"] {
            #expect(try violations(of: value, schema, SchemaChecker(ignored: [pointer])).count == 1, "\(pointer)")
        }
    }

    @Test(arguments: [
        (##"{"oneOf":[{"properties":{"a":{"type":"integer"}}},{"required":["a"]}]}"##, "#/oneOf/0/properties/a"),
        (##"{"not":{"properties":{"a":{"type":"integer"}}}}"##, "#/not/properties/a"),
        (
            ##"{"if":{"properties":{"a":{"type":"integer"}}},"then":{"required":["b"]}}"##, "#/if/properties/a"
        ),
    ])
    func anIgnoredSchemaMakesNoOtherViolation(_ schema: String, _ pointer: String) throws {
        #expect(try violations(of: #"{"a":"x"}"#, schema) == [])
        #expect(try violations(of: #"{"a":"x"}"#, schema, SchemaChecker(ignored: [pointer])) == [])
    }

    @Test func textsWithOtherCodePointsAreDifferent() throws {
        let values = (composed: "\u{E9}", decomposed: "e\u{301}")
        let node = try node(#"{"enum":["\#(values.composed)"],"uniqueItems":true}"#)
        let checker = SchemaChecker()
        #expect(checker.violations(of: .string(values.composed), against: node) == [])
        #expect(checker.violations(of: .string(values.decomposed), against: node).count == 1)
        let unique = try ApiConnectorTestingTests.node(#"{"uniqueItems":true}"#)
        let both: JSONValue = .array([.string(values.composed), .string(values.decomposed)])
        #expect(checker.violations(of: both, against: unique) == [])
        let three: JSONValue = .array([.string(values.composed), .string(values.decomposed), .string(values.composed)])
        #expect(checker.violations(of: three, against: unique).count == 1)
    }

    @Test func aMemberThatNoPartDescribesIsNamed() throws {
        #expect(
            try violations(of: #"{"a":1}"#, #"{"unevaluatedProperties":false}"#) == [
                SchemaViolation(
                    schema: "#/unevaluatedProperties",
                    value: "",
                    sentence: "the member \"a\" is not in the schema"
                )
            ]
        )
    }

    @Test(arguments: [
        (
            "date-time",
            [
                "2020-02-29T23:59:60Z", "1990-12-31T15:59:60-08:00", "1990-12-31T15:59:59.123-08:00",
                "2020-01-01t00:00:00z",
            ],
            [
                "2021-02-29T00:00:00Z", "2020-01-01", "1998-12-31T22:59:60Z", "1990-12-31T15:59:00-24:00",
                "2020-02-28T23:59:60Z", "2021-06-29T23:59:60Z", "1990-12-31T23:59:60-08:00",
            ]
        ),
        ("date", ["2020-02-29"], ["2021-02-29", "2020-13-01", "20200101"]),
        ("uuid", ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380"]),
        ("ipv4", ["127.0.0.1"], ["256.0.0.1", "1.2.3", "1.2.3.4."]),
        ("uri", ["https://example.com/a?b#c", "urn:x:y"], ["/a", "a b:c"]),
        ("byte", ["aGk="], ["a*"]),
        ("unknown", ["anything"], []),
    ])
    func aFormatIsCheckedWhereAsked(_ format: String, _ accepted: [String], _ refused: [String]) throws {
        let schema = #"{"format":"\#(format)"}"#
        let checker = SchemaChecker(checksFormats: true)
        for text in accepted { #expect(try violations(of: "\"\(text)\"", schema, checker).isEmpty, "\(text)") }
        for text in refused {
            #expect(try violations(of: "\"\(text)\"", schema, checker).count == 1, "\(text)")
            #expect(try violations(of: "\"\(text)\"", schema).isEmpty)
        }
        #expect(try violations(of: "\"a*\"", #"{"contentEncoding":"base64"}"#, checker).count == 1)
        #expect(try violations(of: "\"a*\"", #"{"contentEncoding":"base64"}"#).isEmpty)
        #expect(try violations(of: "3000000000", #"{"format":"int32"}"#, checker).count == 1)
        #expect(try violations(of: "3000000000", #"{"format":"int64"}"#, checker).isEmpty)
    }
}

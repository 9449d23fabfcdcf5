// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

/// Tests that a document's text cannot become code.
///
/// Hostile text produces the same declarations as plain text.
@Suite(.timeLimit(.minutes(10)))
struct HostileTextTests {
    /// A document with a name at each place whose text is used in the generated code.
    private static func document(_ names: [Place: String]) -> Data {
        func text(_ place: Place) -> Any { names[place] ?? "plain-\(place.rawValue)" }
        func key(_ place: Place) -> String { names[place] ?? "plain-\(place.rawValue)" }
        func reference(_ place: Place) -> String {
            let step = key(place).replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
            return "#/components/schemas/"
                + (step.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? step)
        }
        let model: [String: Any] = [
            "type": "object", "description": text(.schemaDescription), "required": ["id"],
            "properties": [
                "id": ["type": "integer"],
                key(.property): [
                    "type": "string", "description": text(.propertyDescription), "default": text(.standard),
                ],
                "kind": ["type": "string", "enum": [text(.value), "b-b"]],
                "fixed": ["type": "string", "const": text(.constant)],
            ],
        ]
        let operation: [String: Any] = [
            "operationId": text(.operation), "tags": [text(.tag)], "summary": text(.summary),
            "description": text(.description), "security": [[key(.scheme): [String]()]],
            "parameters": [
                [
                    "name": text(.parameter), "in": "query", "description": text(.parameterDescription),
                    "schema": ["type": "string", "default": text(.parameterDefault)],
                ],
                ["name": text(.header), "in": "header", "schema": ["type": "string"]],
                ["name": text(.cookie), "in": "cookie", "schema": ["type": "string"]],
            ],
            "responses": [
                "200": [
                    "description": text(.responseDescription),
                    "content": ["application/json": ["schema": ["$ref": reference(.schema)]]],
                ]
            ],
        ]
        let answer: [String: Any] = ["content": ["application/\(key(.mediaType))": ["schema": ["type": "string"]]]]
        let item: [String: Any] = [
            "parameters": [
                ["name": text(.pathParameter), "in": "path", "required": true, "schema": ["type": "string"]]
            ],
            "get": ["tags": [text(.tag)], "responses": ["200": answer]],
            "put": [
                "tags": [text(.tag)], "responses": ["204": [String: Any]()],
                "requestBody": ["content": ["application/\(key(.bodyMediaType))": [String: Any]()]],
            ],
            "additionalOperations": [
                key(.method): ["tags": [text(.tag)], "responses": ["204": [String: Any]()]]
            ],
        ]
        let union: [String: Any] = [
            "oneOf": [["$ref": "#/components/schemas/Cat"], ["$ref": "#/components/schemas/Dog"]],
            "discriminator": [
                "propertyName": text(.discriminator),
                "mapping": [key(.mapping): "#/components/schemas/Cat", "d-d": "#/components/schemas/Dog"],
            ],
        ]
        let either: [String: Any] = ["content": ["application/json": ["schema": union]]]
        let root: [String: Any] = [
            "openapi": "3.2.0",
            "info": ["title": text(.title), "version": text(.version), "description": text(.infoDescription)],
            "servers": [
                [
                    "url": "https://a.example.com/\(text(.serverPath))/{\(key(.serverVariable))}",
                    "description": text(.server),
                    "variables": [
                        key(.serverVariable): [
                            "default": text(.serverValue), "description": text(.serverVariableDescription),
                        ]
                    ],
                ]
            ],
            "tags": [["name": text(.tag), "description": text(.tagDescription)]],
            "paths": [
                "/things/\(key(.path))": ["post": operation], "/items/{\(key(.pathParameter))}": item,
                "/either": ["get": ["tags": [text(.tag)], "operationId": "either", "responses": ["200": either]]],
            ],
            "components": [
                "schemas": [
                    key(.schema): model,
                    "Cat": ["type": "object", "required": ["a"], "properties": ["a": ["type": "string"]]],
                    "Dog": ["type": "object", "required": ["b"], "properties": ["b": ["type": "string"]]],
                ],
                "securitySchemes": [key(.scheme): ["type": "apiKey", "in": "header", "name": text(.keyName)]],
            ],
        ]
        return (try? JSONSerialization.data(withJSONObject: root)) ?? Data()
    }

    enum Place: String, CaseIterable, Sendable {
        case title, version, infoDescription, server, tag, tagDescription, path, operation, summary, description
        case parameter, parameterDescription, parameterDefault, header, cookie, responseDescription, scheme, keyName
        case schema, schemaDescription, property, propertyDescription, standard, value, constant
        case serverPath, serverVariable, serverValue, serverVariableDescription, mediaType, bodyMediaType
        case discriminator, mapping, pathParameter, method

        /// Whether most hostile texts are refused here, or give fewer declarations.
        ///
        /// A text with a brace or a slash is not a path parameter. A text with a space is not a method.
        var isStrict: Bool {
            [.serverPath, .serverVariable, .mediaType, .bodyMediaType, .pathParameter, .method].contains(self)
        }
    }

    private static let hostile = [
        "*/ func evil() {} /*", "/* never ends", "\nfunc evil() {}\n", "\r\nimport Evil\r\n", "\u{2028}func evil() {}",
        "\u{85}struct Evil {}", "\"; evil(); \"", "\" + evil() + \"", "\\(evil())", "\\\"; evil()",
        "\"\"\"\nevil()\n\"\"\"",
        "`; evil(); `", "}\nextension String { func evil() {} }", "#if true", "#error(\"x\")",
        "#sourceLocation(file: \"x\")",
        "@available(*, deprecated)", "</>&\u{0}\u{1B}[31m", "\u{202E}cipherevil", "class", "init", "self", "Type",
        "e\u{301}",
        "🙂", "1", "-", String(repeating: "a", count: 2_000), "$0", "_", "func evil() { while true {} }",
        "<#placeholder#>",
    ]

    private func sources(_ names: [Place: String]) throws -> [String] {
        try Generator(Self.document(names)).generate().files.map(\.text)
    }

    @Test func plainTextGivesADeclarationForEachPart() throws {
        let shape = SourceShape.examine(try sources([:])).counts
        #expect(shape["extension>func"] == 5)
        #expect(shape["struct"] ?? 0 >= 3)
        #expect(shape["import"] == 9)
    }

    /// The keywords of Swift, in declarations, statements, expressions, types and patterns.
    private static let keywords = [
        "Any Protocol Self Type actor any as associatedtype associativity async await borrowing break",
        "case catch class consume consuming continue convenience copy default defer deinit didSet",
        "discard distributed do dynamic each else enum extension fallthrough false fileprivate final for",
        "func get guard if import in indirect infix init inout internal is isolated lazy left let macro",
        "mutating nil none nonisolated nonmutating nonsending open operator optional override package",
        "postfix precedence precedencegroup prefix private protocol public reasync repeat required",
        "rethrows return right self sending set some static struct subscript super switch then throw",
        "throws true try typealias unowned unsafe var weak where while willSet yield",
    ].flatMap { $0.split(separator: " ").map(String.init) }

    @Test(arguments: keywords)
    func aKeywordIsANameInEachPlace(_ keyword: String) throws {
        let names = Dictionary(uniqueKeysWithValues: Place.allCases.filter { !$0.isStrict }.map { ($0, keyword) })
        var configuration = Configuration()
        // Public models also have initializers.
        configuration.access = .public
        let files = try Generator(Self.document(names), configuration: configuration).generate().files
        let sources = files.map(\.text)
        #expect(SourceShape.examine(sources).flaws == [])
    }

    @Test(arguments: Place.allCases)
    func hostileTextGivesTheSameDeclarations(_ place: Place) throws {
        var expected = SourceShape.examine(try sources([:])).counts
        if place == .bodyMediaType {
            // A body of the media type `application/*` is JSON.
            expected.merge(SourceShape.examine(try sources([place: "*"])).counts, uniquingKeysWith: max)
        }
        var generatedCount = 0
        for text in Self.hostile {
            let sources: [String]
            do {
                sources = try self.sources([place: text])
            } catch is DocumentError {
                // A refused document is safe.
                continue
            }
            generatedCount += 1
            let (counts, flaws) = SourceShape.examine(sources)
            #expect(flaws == [], "\(text.debugDescription)")
            let difference = counts.filter { key, count in
                let expected = expected[key] ?? 0
                return place.isStrict ? count > expected : count != expected
            }
            #expect(difference == [:], "\(text.debugDescription)")
        }
        #expect(generatedCount > (place.isStrict ? 5 : Self.hostile.count / 2))
    }
}

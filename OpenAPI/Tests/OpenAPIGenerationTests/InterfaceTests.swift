// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

/// Tests of the output of `diff`.
struct InterfaceTests {
    private func interface(_ yaml: String) throws -> Interface {
        try Generator(Data(("openapi: 3.1.0\n" + yaml).utf8), named: "a.yaml").interface()
    }

    private static let old = """
        components:
          schemas:
            Pet: { type: object, required: [name], properties: { name: { type: string }, age: { type: integer } } }
            New: { type: object, required: [name], properties: { name: { type: string } } }
            Kind: { type: string, enum: [cat, dog] }
        paths:
          /a:
            get:
              operationId: a
              parameters: [{ name: kind, in: query, schema: { $ref: "#/components/schemas/Kind" } }, { name: old, in: query, schema: {} }]
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } } }
            post:
              operationId: b
              requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/New" } } } }
          /gone: { get: { operationId: gone } }
        """

    @Test func theSameDocumentHasNoChanges() throws {
        #expect(try interface(Self.old).changes(to: interface(Self.old)) == [])
    }

    @Test func breakingChangesComeFirst() throws {
        let new = Self.old
            .replacing("/gone: { get: { operationId: gone } }", with: "/new: { get: { operationId: new } }")
            .replacing("age: { type: integer }", with: "age: { type: string }, size: { type: integer }")
            .replacing("enum: [cat, dog]", with: "enum: [cat, bird]")
            .replacing("{ name: old, in: query, schema: {} }", with: "{ name: page, in: query, schema: {} }")
            .replacing(
                "New: { type: object, required: [name], properties: { name",
                with: "New: { type: object, required: [name, id], properties: { id: { type: integer }, name"
            )
        let changes = try interface(Self.old).changes(to: interface(new)).map(\.description)
        #expect(
            changes == [
                "breaking: GET /a: the parameter old was removed", "breaking: GET /gone was removed",
                "breaking: Kind.dog was removed", "breaking: New.id is new and required",
                "breaking: Pet.age has the type String instead of Int", "added: GET /a: the parameter page is new",
                "added: GET /new as APIRouter.new", "added: Kind.bird is new", "added: Pet.size is new",
            ]
        )
    }

    // MARK: - Changes that no type shows

    private static let shop = """
        servers: [{ url: "https://a.example" }]
        security: [{ token: [read] }]
        components:
          securitySchemes:
            token: { type: oauth2, flows: {} }
            key: { type: apiKey, in: header, name: X-Key }
          schemas:
            In: { type: object, properties: { name: { type: string, maxLength: 9 }, ids: { type: array, items: { type: integer, minimum: 1 } } } }
            Out: { type: object, required: [name], properties: { name: { type: string, maxLength: 9 } } }
            Bad: { type: object, required: [code], properties: { code: { type: integer } } }
            Worse: { type: object, required: [text], properties: { text: { type: string } } }
        paths:
          /a:
            post:
              operationId: a
              parameters:
                - { name: page_size, in: query, schema: { type: integer, maximum: 100, default: 10 } }
                - { name: ids, in: query, schema: { type: array, items: { type: string } } }
                - { name: must, in: query, required: true, schema: { type: string, format: email } }
              requestBody:
                content:
                  application/json: { schema: { $ref: "#/components/schemas/In" } }
                  multipart/form-data: { schema: { $ref: "#/components/schemas/In" } }
              responses:
                200: { content: { application/json: { schema: { $ref: "#/components/schemas/Out" } }, text/csv: {} } }
                404: { content: { application/json: { schema: { $ref: "#/components/schemas/Bad" } } } }
        """

    @Test(arguments: [
        (
            "page_size, in: query", "pageSize, in: query",
            [
                "breaking: POST /a: the parameter pageSize is the query item pageSize in the style form with explode instead of the query item page_size in the style form with explode"
            ]
        ),
        (
            "page_size, in: query", "page_size, in: header",
            [
                "breaking: POST /a: the parameter pageSize is the header field page_size in the style simple instead of the query item page_size in the style form with explode"
            ]
        ),
        (
            "ids, in: query", "ids, in: query, explode: false",
            [
                "breaking: POST /a: the parameter ids is the query item ids in the style form instead of the query item ids in the style form with explode"
            ]
        ),
        ("maximum: 100", "maximum: 50", ["breaking: POST /a: the parameter pageSize: maximum is 50 instead of 100"]),
        ("maximum: 100", "maximum: 200", ["changed: POST /a: the parameter pageSize: maximum is 200 instead of 100"]),
        ("default: 10", "default: 20", ["changed: POST /a: the parameter pageSize: default is 20 instead of 10"]),
        (
            "format: email", "format: hostname",
            ["breaking: POST /a: the parameter must: format is hostname instead of email"]
        ),
        (
            "format: email", "format: uuid",
            ["breaking: POST /a: the parameter must has the type UUID instead of String"]
        ),
        (
            "must, in: query, required: true", "must, in: query",
            [
                "breaking: POST /a: the parameters have another order: pageSize, ids, must, body",
                "breaking: POST /a: the parameters have another order: form, pageSize, ids, must",
                "changed: POST /a: the parameter must became optional",
            ]
        ),
        (
            "In: { type: object, properties: { name: { type: string, maxLength: 9 }",
            "In: { type: object, properties: { name: { type: string, maxLength: 5 }",
            ["breaking: In.name: maxLength is 5 instead of 9"]
        ),
        ("minimum: 1 }", "minimum: 0 }", ["changed: In.ids: items minimum is 0 instead of 1"]),
        ("minimum: 1 }", "minimum: 1, multipleOf: 2 }", ["breaking: In.ids: items multipleOf 2 is new"]),
        (
            "Out: { type: object, required: [name], properties: { name: { type: string, maxLength: 9 }",
            "Out: { type: object, required: [name], properties: { name: { type: string, maxLength: 5 }",
            ["changed: Out.name: maxLength is 5 instead of 9"]
        ),
        (
            "          multipart/form-data: { schema: { $ref: \"#/components/schemas/In\" } }\n", "",
            [
                "breaking: POST /a: APIRouter.a(form:) was removed",
                "breaking: POST /a: APIRouter.aData(form:) was removed",
                "breaking: POST /a: the request body can no longer be multipart/form-data",
            ]
        ),
        ("text/csv: {}", "text/csv: {}, text/plain: {}", ["added: POST /a: the response 200 can be text/plain"]),
        ("404:", "409:", ["added: POST /a: the status 409", "changed: POST /a: the status 404 was removed"]),
        (
            "schemas/Bad\" } } } }", "schemas/Worse\" } } } }",
            [
                "breaking: APIRouter's errors have Worse instead of Bad", "breaking: the type Bad was removed",
                "added: the type Worse",
            ]
        ),
        (
            "security: [{ token: [read] }]", "security: [{ token: [read, write] }]",
            [
                "breaking: POST /a: the credentials are token and token with read and token with write instead of token and token with read"
            ]
        ),
        (
            "security: [{ token: [read] }]", "security: [{ token: [read] }, { key: [] }]",
            [
                "changed: POST /a: the credentials are key or token and token with read instead of token and token with read"
            ]
        ),
        (
            "security: [{ token: [read] }]", "",
            ["changed: POST /a: the credentials are none instead of token and token with read"]
        ),
        (
            "name: X-Key", "name: X-Other",
            [
                "breaking: the security scheme key has in header, name X-Other, type apiKey instead of in header, name X-Key, type apiKey"
            ]
        ),
        (
            "https://a.example", "https://b.example",
            ["breaking: the server https://a.example was removed", "added: the server https://b.example"]
        ),
        ("operationId: a\n", "operationId: a\n      deprecated: true\n", ["changed: POST /a: it is deprecated"]),
        (
            "operationId: a\n", "operationId: a\n      servers: [{ url: \"https://c.example\" }]\n",
            [
                "breaking: POST /a: the servers are https://c.example instead of those of the document",
                "added: the server https://c.example",
            ]
        ),
    ])
    func aChangeThatNoTypeShowsIsReported(_ old: String, _ new: String, _ sentences: [String]) throws {
        #expect(Self.shop.contains(old))
        let changed = Self.shop.replacing(old, with: new, maxReplacements: 1)
        let changes = try interface(Self.shop).changes(to: interface(changed)).map(\.description)
        #expect(changes == sentences)
    }

    private static let model = """
        info: { title: Shop }
        servers: [{ url: "https://a.example" }, { url: "https://b.example", description: Sandbox }]
        components:
          schemas:
            A: { type: object, additionalProperties: { type: string }, properties: { user_id: { type: string }, kind: { $ref: "#/components/schemas/K" }, either: { $ref: "#/components/schemas/E" } } }
            K: { type: string, enum: [CAT, DOG] }
            E: { oneOf: [{ $ref: "#/components/schemas/X" }, { $ref: "#/components/schemas/Y" }], discriminator: { propertyName: t, mapping: { x: "#/components/schemas/X" } } }
            X: { type: object, properties: { t: { type: string } } }
            Y: { type: object, properties: { t: { type: string } } }
            Z: { type: object, properties: { t: { type: string } } }
        paths:
          /a:
            get:
              operationId: a
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } } }
        """

    @Test(arguments: [
        ("user_id", "userId", "breaking: A.userID is the member \"userId\" instead of the member \"user_id\""),
        ("[CAT, DOG]", "[cat, DOG]", "breaking: K.cat is \"cat\" instead of \"CAT\""),
        (
            "mapping: { x:", "mapping: { X1:",
            "breaking: E.x is the alternative with the tag \"X1\" instead of the alternative with the tag \"x\""
        ),
        (
            "propertyName: t,", "propertyName: u,",
            "breaking: E: its alternatives are distinguished by \"u\"; before, its alternatives are distinguished by \"t\""
        ),
        (
            "additionalProperties: { type: string }", "additionalProperties: { type: integer }",
            "breaking: A.additionalProperties has the type [String: Int] instead of [String: String]"
        ),
        ("additionalProperties: { type: string }, ", "", "breaking: A.additionalProperties was removed"),
        (
            "\"#/components/schemas/Y\" }]", "\"#/components/schemas/Y\" }, { $ref: \"#/components/schemas/Z\" }]",
            "breaking: E.z is new; a switch over the alternatives needs a case for it"
        ),
        (
            "description: Sandbox", "description: Staging",
            "breaking: the server https://b.example is .staging instead of .sandbox"
        ),
        (
            "title: Shop", "title: Store",
            "breaking: ShopServer was renamed to StoreServer, and ShopCredentials likewise"
        ),
        (
            "  /a:\n", "  /a:\n    servers: [{ url: \"https://b.example\" }]\n",
            "breaking: GET /a: the servers are https://b.example instead of those of the document"
        ),
    ])
    func aChangeOfTheWireFormatIsReported(_ old: String, _ new: String, _ sentence: String) throws {
        #expect(Self.model.contains(old))
        let changed = Self.model.replacing(old, with: new, maxReplacements: 1)
        let changes = try interface(Self.model).changes(to: interface(changed)).map(\.description)
        #expect(changes.contains(sentence), "\(changes)")
    }

    @Test func aSelectedOperationThatIsGoneIsAChange() throws {
        func interface(_ name: String, ignores: Bool) throws -> Interface {
            var configuration = Configuration()
            configuration.operations = ["a"]
            configuration.equatable = .named(["A"])
            configuration.ignoresUnknownNames = ignores
            let yaml = "openapi: 3.1.0\n" + Self.model.replacing("operationId: a", with: "operationId: \(name)")
            return try Generator(Data(yaml.utf8), named: "a.yaml", configuration: configuration).interface()
        }
        let changes = try interface("a", ignores: false).changes(to: interface("b", ignores: true)).map(\.description)
        #expect(changes.contains("breaking: GET /a was removed"))
        #expect(throws: DocumentError.self) { try interface("b", ignores: false) }
    }

    @Test func aCursorThatIsGoneBreaksItsPages() throws {
        let old = """
            paths:
              /a:
                get:
                  operationId: list
                  parameters: [{ name: after, in: query, schema: { type: string } }]
                  responses:
                    200:
                      links: { more: { operationId: list, parameters: { after: $response.body#/next } } }
                      content: { application/json: { schema: { type: object, properties: { next: { type: string } } } } }
            """
        let new = old.replacing("operationId: list, parameters", with: "operationId: other, parameters")
        let changes = try interface(old).changes(to: interface(new)).map(\.description)
        #expect(changes == ["breaking: GET /a: the pages .list were removed"])
    }

    @Test func anotherOrderOfArgumentsBreaksCallers() throws {
        let old = """
            components:
              schemas:
                In: { type: object, properties: { x: { type: string }, y: { type: string } } }
                Out: { type: object, properties: { x: { type: string }, y: { type: string } } }
                Either: { oneOf: [{ type: string }, { type: integer }] }
            paths:
              /a:
                post:
                  operationId: a
                  parameters: [{ name: a, in: query, required: true }, { name: b, in: query, required: true }]
                  requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/In" } } } }
                  responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Out" } } } } }
                put:
                  operationId: b
                  requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Either" } } } }
            """
        let new = old.replacing(
            "{ name: a, in: query, required: true }",
            with: "{ name: c, in: query, required: true }"
        )
        .replacing("{ name: b,", with: "{ name: a,").replacing("{ name: c,", with: "{ name: b,")
        .replacing("x: { type: string }, y: { type: string }", with: "y: { type: string }, x: { type: string }")
        .replacing("[{ type: string }, { type: integer }]", with: "[{ type: integer }, { type: string }]")
        let changes = try interface(old).changes(to: interface(new)).map(\.description)
        #expect(
            changes == [
                "breaking: POST /a: the parameters have another order: b, a, body",
                "breaking: In.init has another order of members: y, x",
            ]
        )
    }

    private func changes(_ old: String, _ new: String) throws -> [String] {
        let rest = "info: { title: Shop }\nservers: [{ url: \"https://a.example\" }]\npaths: "
        func interface(_ version: String, _ paths: String) throws -> Interface {
            let yaml = "openapi: \(version)\n\(rest){ \(paths) }\n"
            return try Generator(Data(yaml.utf8), named: "a.yaml").interface()
        }
        return try interface("3.0.0", old).changes(to: interface("3.1.0", new)).map(\.description)
    }

    private func path(_ parameter: String, _ schema: String) -> String {
        "\"/a/{\(parameter)}\": { get: { operationId: a, parameters: [{ name: \(parameter), in: path, required: true, "
            + "schema: { type: number, \(schema) } }], responses: { \"204\": { description: x } } } }"
    }

    @Test func theSameLimitInAnotherNotationIsNoChange() throws {
        #expect(try changes(path("b", "minimum: 1"), path("b", "minimum: 1.0")) == [])
        #expect(
            try changes(path("b", "minimum: 1, exclusiveMinimum: true"), path("b", "exclusiveMinimum: 1.0")) == []
        )
        #expect(
            try changes(path("b", "maximum: 9, exclusiveMaximum: true"), path("b", "exclusiveMaximum: 8"))
                == ["breaking: GET /a/{b}: the parameter b: exclusiveMaximum is 8 instead of 9"]
        )
    }

    @Test func aLooserBoundDoesNotBreakCallers() throws {
        #expect(
            try changes(path("b", "minimum: 0, exclusiveMinimum: true"), path("b", "minimum: 0")) == [
                "changed: GET /a/{b}: the parameter b: exclusiveMinimum 0 was removed",
                "changed: GET /a/{b}: the parameter b: minimum 0 is new",
            ]
        )
        #expect(
            try changes(path("b", "maximum: 9"), path("b", "exclusiveMaximum: 9")) == [
                "breaking: GET /a/{b}: the parameter b: exclusiveMaximum 9 is new",
                "breaking: GET /a/{b}: the parameter b: maximum 9 was removed",
            ]
        )
    }

    @Test func twoServersWithTheSameURLAreNoChange() throws {
        let yaml = """
            servers:
              - { url: "https://{r}.example", description: Main, variables: { r: { default: eu } } }
              - { url: "https://eu.example", description: Europe }
            info: { title: Shop }
            paths: {}
            """
        #expect(try interface(yaml).changes(to: interface(yaml)).map(\.description) == [])
    }

    @Test func anotherNameOfAPathParameterIsAChangeOfTheParameter() throws {
        #expect(
            try changes(path("b", "minimum: 1"), path("c", "minimum: 1")) == [
                "breaking: GET /a/{b}: the parameter b was removed", "breaking: GET /a/{b}: the parameter c is new",
            ]
        )
    }
}

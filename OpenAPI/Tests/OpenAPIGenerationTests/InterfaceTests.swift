// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

/// Tests of the output of `diff`.
@Suite struct InterfaceTests {
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
                "breaking: Kind.dog was removed", "breaking: New.id",
                "breaking: Pet.age has the type String instead of Int", "added: GET /a: the parameter page is new",
                "added: GET /new as APIRouter.new", "added: Kind.bird", "added: Pet.size",
            ]
        )
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of lists with pages, which a rule of the configuration or a link describes.
struct PagePlannerTests {
    private static func document(_ schema: String, links: String = "{}") -> String {
        """
        paths:
          /a:
            get:
              operationId: list
              parameters: [{ name: after, in: query, schema: { type: string } }, { name: X, in: header, schema: {} }]
              responses:
                200:
                  links: \(links)
                  content: { application/json: { schema: { type: object, \(schema) } } }
        """
    }

    private func closure(
        _ schema: String,
        _ pages: Configuration.Pages = Configuration.Pages(query: "after", next: "/next")
    ) throws -> String? {
        let code = try generated(Self.document(schema)) { $0.pages = [pages] }.code
        let line = code.split(separator: "\n").first { $0.contains("$0.value") }
        return line.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: [
        ("properties: { next: { type: string } }", "$0.value.next"),
        ("required: [next], properties: { next: { type: integer } }", "$0.value.next.description"),
        ("properties: { next: { type: [integer, 'null'] } }", "$0.value.next?.description"),
        ("properties: { next: { type: string, format: uuid } }", "$0.value.next?.uuidString"),
        ("properties: { next: {} }", "$0.value.next?.string"),
        ("properties: { next: { enum: [a, b] } }", "$0.value.next?.rawValue.description"),
    ])
    func theCursorIsAText(_ schema: String, _ code: String) throws {
        #expect(try closure(schema) == ".cursor(\"after\") { \(code) }")
    }

    @Test func aMemberOfAMemberIsACursor() throws {
        let schema = "properties: { meta: { type: object, required: [a/b], properties: { a/b: { type: string } } } }"
        let pages = Configuration.Pages(query: "after", next: "/meta/a~1b")
        #expect(try closure(schema, pages) == ".cursor(\"after\") { $0.value.meta?.aB }")
    }

    @Test func aURLOfTheNextPageNeedsNoQueryItem() throws {
        let pages = Configuration.Pages(next: "/next")
        let url = "properties: { next: { type: string, format: uri } }"
        #expect(try closure(url, pages) == ".url { $0.value.next }")
        let text = "properties: { next: { type: string } }"
        #expect(try closure(text, pages) == ".link { $0.value.next }")
    }

    @Test func aFalseMemberEndsTheList() throws {
        var pages = Configuration.Pages(query: "after", next: "/next")
        pages.whileTrue = "/more"
        let schema = "properties: { next: { type: string }, more: { type: boolean } }"
        #expect(try closure(schema, pages) == ".cursor(\"after\") { $0.value.more == false ? nil : $0.value.next }")
    }

    @Test func aRuleThatFitsNoOperationHasAWarning() throws {
        let result = try generated(Self.document("properties: { a: { type: string } }")) {
            $0.pages = [Configuration.Pages(query: "after", next: "/next")]
        }
        #expect(!result.code.contains("NextPage"))
        #expect(result.sentences.contains("no operation has pages with the member \"/next\""))
    }

    @Test(arguments: ["list", "unknown"])
    func aNamedOperationWithoutSuchPagesIsRefused(_ operation: String) {
        let error = #expect(throws: DocumentError.self) {
            try generated(Self.document("properties: { a: { type: string } }")) {
                var pages = Configuration.Pages(query: "after", next: "/next")
                pages.operations = [operation]
                $0.pages = [pages]
            }
        }
        #expect(error?.description.hasPrefix("the operation \"\(operation)\" has no pages") == true)
    }

    @Test(arguments: [
        "{ more: { operationId: list, parameters: { after: $response.body#/next } } }",
        "{ more: { operationId: list, parameters: { query.after: $response.body#/next } } }",
        "{ more: { operationRef: '#/paths/~1a/get', parameters: { after: $response.body#/next } } }",
    ])
    func aLinkToItsOwnOperationIsItsCursor(_ links: String) throws {
        let result = try generated(Self.document("properties: { next: { type: string } }", links: links))
        #expect(result.code.contains("static var list: NextPage {\n        .cursor(\"after\") { $0.value.next }"))
        #expect(!result.sentences.contains { $0.contains("link") })
    }

    @Test(arguments: [
        "{ x: { operationId: other, parameters: { after: $response.body#/next } } }",
        "{ x: { operationId: list, parameters: { X: $response.body#/next } } }",
        "{ x: { operationId: list, parameters: { after: $request.query.after } } }",
        "{ x: { operationId: list } }",
    ])
    func anotherLinkHasAWarning(_ links: String) throws {
        let result = try generated(Self.document("properties: { next: { type: string } }", links: links))
        #expect(!result.code.contains("NextPage"))
        #expect(result.warnings.contains { $0.pointer.hasSuffix("/links/x") })
    }

    @Test(arguments: [
        ("post", "its method is POST, and only the responses of GET have pages"),
        ("stream", "its response is not one JSON value"), ("text", "its response is not one JSON value"),
        ("other", "it is not in the document"),
        ("list", "the query item \"cursor\" or the member \"/next\" or the Boolean \"/more\" is missing"),
    ])
    func theReasonIsNamedForAnOperationWithoutPages(_ operation: String, _ reason: String) {
        let page = "application/json: { schema: { type: object, properties: { next: { type: string } } } }"
        let yaml = """
            paths:
              /a:
                get: { operationId: list, responses: { 200: { content: { \(page) } } } }
                post: { operationId: post, responses: { 200: { content: { \(page) } } } }
              /b:
                get: { operationId: stream, responses: { 200: { content: { application/jsonl: {} } } } }
              /c:
                get: { operationId: text, responses: { 200: { content: { text/plain: {} } } } }
            """
        let error = #expect(throws: DocumentError.self) {
            try generated(yaml) {
                var pages = Configuration.Pages(query: "cursor", next: "/next")
                pages.whileTrue = "/more"
                pages.operations = [operation]
                $0.pages = [pages]
            }
        }
        #expect(error?.description == "the operation \"\(operation)\" has no pages: \(reason)")
    }

    @Test func aLinkOfAPostHasAWarning() throws {
        let links = "{ more: { operationId: list, parameters: { after: $response.body#/next } } }"
        let get = Self.document("properties: { next: { type: string } }", links: links)
        let result = try generated(get.replacing("    get:", with: "    post:"))
        #expect(!result.code.contains("NextPage"))
        #expect(result.warnings.contains { $0.pointer.hasSuffix("/links/more") })
    }
}

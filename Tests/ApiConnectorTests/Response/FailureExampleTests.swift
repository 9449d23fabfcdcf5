// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// Bodies of the forms that RFC 9457 and JSON:API 1.1 show, through a connection.
struct FailureExampleTests {
    struct ProblemRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        var status: HTTPStatus = 403
        let problem: ProblemDetails?
    }

    struct ErrorRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        /// Nil where the status is the failure.
        let errors: [JSONAPIError]?
    }

    static let problems: [ProblemRow] = [
        ProblemRow(
            testDescription: "with members of its own (RFC 9457, section 3)",
            body: """
                {"type":"https://example.com/probs/no-credit","title":"Not enough credit.","detail":"30 of 50.",\
                "instance":"/account/1/msgs/2","balance":30,"accounts":["/account/1","/account/3"]}
                """,
            problem: ProblemDetails(
                type: "https://example.com/probs/no-credit",
                title: "Not enough credit.",
                detail: "30 of 50.",
                instance: "/account/1/msgs/2"
            )
        ),
        ProblemRow(
            testDescription: "with a list of errors (section 3)",
            body: """
                {"type":"https://example.net/invalid","title":"Invalid.",\
                "errors":[{"detail":"must be positive","pointer":"#/age"},{"detail":"must be a color","pointer":"#/a/b"}]}
                """,
            status: 422,
            problem: ProblemDetails(type: "https://example.net/invalid", title: "Invalid.")
        ),
        ProblemRow(
            testDescription: "without a type (section 4.2.1)",
            body: #"{"title":"Not Found","status":404}"#,
            status: 404,
            problem: ProblemDetails(title: "Not Found", status: 404)
        ),
        ProblemRow(
            testDescription: "with about:blank",
            body: #"{"type":"about:blank","title":"Forbidden","status":403}"#,
            problem: ProblemDetails(title: "Forbidden", status: 403)
        ),
        ProblemRow(
            testDescription: "with a relative type (section 3.1.1)",
            body: #"{"type":"/problems/no-credit"}"#,
            problem: ProblemDetails(type: "/problems/no-credit")
        ),
        ProblemRow(
            testDescription: "with a tag as the type",
            body: #"{"type":"tag:example.com,2026:no-credit","instance":"urn:uuid:1"}"#,
            problem: ProblemDetails(type: "tag:example.com,2026:no-credit", instance: "urn:uuid:1")
        ),
        ProblemRow(
            testDescription: "with a status that is not the response's (section 3.1.2)",
            body: #"{"title":"Odd","status":404}"#,
            status: 502,
            problem: ProblemDetails(title: "Odd", status: 404)
        ),
        ProblemRow(
            testDescription: "with members of the wrong types (section 3.1)",
            body: #"{"type":null,"title":["a"],"status":"403","detail":{},"instance":1}"#,
            problem: ProblemDetails()
        ),
        ProblemRow(
            testDescription: "with a status as a decimal number",
            body: #"{"title":"a","status":403.0}"#,
            problem: ProblemDetails(title: "a", status: 403)
        ),
        ProblemRow(
            testDescription: "with a status that is not a whole number",
            body: #"{"title":"a","status":403.5}"#,
            problem: ProblemDetails(title: "a")
        ),
        ProblemRow(
            testDescription: "with a status beyond any number",
            body: #"{"title":"a","status":1e300}"#,
            problem: ProblemDetails(title: "a")
        ),
        ProblemRow(testDescription: "with none of the members", body: #"{"balance":30}"#, problem: nil),
        ProblemRow(testDescription: "that is a list", body: #"[{"title":"a"}]"#, problem: nil),
        ProblemRow(testDescription: "that is cut", body: #"{"title":"a""#, problem: nil),
    ]

    @Test(arguments: problems) func problemDetailsAreRead(_ row: ProblemRow) async throws {
        let api = CannedConnection(
            BareEnvelope<NoFailure>.self,
            answering: row.body,
            status: row.status,
            type: "application/problem+json"
        )
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == .unacceptableStatus)
        #expect(error.response?.status == row.status)
        #expect(error.problem == row.problem)
    }

    static let errors: [ErrorRow] = [
        ErrorRow(
            testDescription: "one error",
            body: """
                {"errors":[{"status":"422","source":{"pointer":"/data/attributes/name"},"title":"Invalid Attribute",\
                "detail":"Too short."}]}
                """,
            errors: [
                JSONAPIError(
                    status: "422",
                    title: "Invalid Attribute",
                    detail: "Too short.",
                    source: JSONAPIError.Source(pointer: "/data/attributes/name")
                )
            ]
        ),
        ErrorRow(
            testDescription: "several errors with codes",
            body: """
                {"jsonapi":{"version":"1.1"},"errors":[\
                {"code":"123","source":{"pointer":"/data/attributes/name"},"title":"Too short"},\
                {"code":"225","source":{"pointer":"/data/attributes/password"},"title":"Weak"},\
                {"code":"226","source":{"pointer":"/data/attributes/password"},"title":"Old"}]}
                """,
            errors: [("123", "name", "Too short"), ("225", "password", "Weak"), ("226", "password", "Old")].map {
                let source = JSONAPIError.Source(pointer: "/data/attributes/\($0.1)")
                return JSONAPIError(code: $0.0, title: $0.2, source: source)
            }
        ),
        ErrorRow(
            testDescription: "a query parameter",
            body: #"{"errors":[{"source":{"parameter":"include"},"title":"Invalid Query Parameter"}]}"#,
            errors: [
                JSONAPIError(title: "Invalid Query Parameter", source: JSONAPIError.Source(parameter: "include"))
            ]
        ),
        ErrorRow(
            testDescription: "a header field",
            body: #"{"errors":[{"source":{"header":"X-Tenant"},"status":"400"}]}"#,
            errors: [JSONAPIError(status: "400", source: JSONAPIError.Source(header: "X-Tenant"))]
        ),
        ErrorRow(
            testDescription: "the whole document",
            body: #"{"errors":[{"source":{"pointer":""},"detail":"Missing `data` Member"}]}"#,
            errors: [JSONAPIError(detail: "Missing `data` Member", source: JSONAPIError.Source(pointer: ""))]
        ),
        ErrorRow(
            testDescription: "links and meta",
            body: """
                {"errors":[{"id":"1","links":{"about":"https://example.com/1","type":["https://example.com/t"]},\
                "meta":{"retries":3}}],"meta":{},"links":{"self":"/a"}}
                """,
            errors: [JSONAPIError(id: "1")]
        ),
        ErrorRow(testDescription: "an empty error", body: #"{"errors":[{}]}"#, errors: [JSONAPIError()]),
        ErrorRow(testDescription: "no error", body: #"{"errors":[]}"#, errors: nil),
        ErrorRow(testDescription: "an object in place of the list", body: #"{"errors":{"status":"422"}}"#, errors: nil),
        ErrorRow(testDescription: "only meta", body: #"{"meta":{"a":1}}"#, errors: nil),
    ]

    @Test(arguments: errors) func jsonAPIErrorsAreRead(_ row: ErrorRow) async throws {
        let api = CannedConnection(
            JSONAPIEnvelope<JSONAPIError>.self,
            answering: row.body,
            status: 422,
            type: "application/vnd.api+json"
        )
        let error = try await failure { () throws(ApiConnectorError) in try await api.value(Item.self, at: Enveloped())
        }
        #expect(error.kind == (row.errors == nil ? .unacceptableStatus : .backendFailure))
        #expect(error.failure(as: [JSONAPIError].self) == row.errors)
    }

    private struct Article: Decodable, Equatable {
        struct Attributes: Decodable, Equatable { let title: String }
        let type, id: String
        let attributes: Attributes?
    }

    private func value<Value: Decodable & Sendable>(
        _ body: String,
        _ type: Value.Type = Value.self
    ) async throws -> Value {
        let api = CannedConnection(
            JSONAPIEnvelope<JSONAPIError>.self,
            answering: body,
            type: "application/vnd.api+json; ext=\"https://jsonapi.org/ext/atomic\""
        )
        return try await api.value(Value.self, at: Enveloped())
    }

    /// JSON:API 1.1, sections 7.1 and 9.2: primary data is a resource, a list of them, null or an empty list.
    @Test func jsonAPIDataIsRead() async throws {
        let article = Article(type: "articles", id: "1", attributes: Article.Attributes(title: "Tea"))
        let text =
            #"{"type":"articles","id":"1","attributes":{"title":"Tea"},"relationships":{"author":{"data":null}}}"#
        let rest = #""included":[{"type":"people","id":"9"}],"links":{"self":"/articles"},"jsonapi":{"version":"1.1"}"#
        #expect(try await value("{\(rest),\"data\":\(text)}") == article)
        #expect(try await value("{\"data\":[\(text)],\(rest)}") == [article])
        #expect(try await value("{\"data\":[],\(rest)}", [Article].self).isEmpty)
        #expect(try await value("{\"data\":null,\(rest)}", Article?.self) == nil)
        #expect(try await value(#"{"meta":{"copyright":"none"}}"#, Article?.self) == nil)
        #expect(try await value(#"{"data":{"type":"a","id":"1"}}"#) == Article(type: "a", id: "1", attributes: nil))
    }
}

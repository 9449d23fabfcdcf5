// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

extension Mistake {
    private struct Post: Codable, Sendable {
        var createdAt: Date
    }

    /// The error text of a call with a given response.
    private static func text<Value: Codable & Sendable>(
        of body: String,
        as type: Value.Type = Post.self,
        status: HTTPStatus = 200,
        mediaType: String = "application/json"
    ) async throws -> String {
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: body, status: status, type: mediaType)
        return try await failure { () throws(ApiConnectorError) in try await api.value(type, at: Enveloped()) }
            .description
    }

    /// Mistakes in a model or a call, which the response shows.
    static let responses = [
        Mistake("keys in snake_case", says: "JSONCoding(keys: .snakeCase)") {
            try await text(of: #"{"created_at":"2026-01-02T03:04:05Z"}"#)
        },
        Mistake("dates as text", says: "JSONCoding(dates: .iso8601)") {
            try await text(of: #"{"createdAt":"2026-01-02T03:04:05Z"}"#)
        },
        Mistake("a list as one value", says: "request [Post]") {
            try await text(of: #"[{"createdAt":0}]"#)
        },
        Mistake("a page as a list", says: #".elements(at: "items")"#) {
            try await text(of: #"{"items":[{"createdAt":0}]}"#, as: [Post].self)
        },
        Mistake("JSON Lines as one value", says: "as .jsonLines") {
            try await text(of: "{\"createdAt\":0}\n{\"createdAt\":1}\n")
        },
        Mistake("a page for signing in as JSON", says: "Check that the URL is that of an API, not of a web page") {
            try await text(of: "<html></html>", mediaType: "text/html")
        },
        Mistake("a value of a response without a body", says: "expect Post? if the body can be empty") {
            try await text(of: "", status: 204)
        },
        Mistake("no credentials", says: "add them with authenticating(by:for:) or a header field") {
            try await text(of: "", status: 401)
        },
        Mistake("validators without a cache", says: "wrap the provider in caching(in:)") {
            try await text(of: "", status: 304)
        },
        Mistake("half an answer of a model", says: "; add .resuming() to the format to request the rest") {
            let api = CannedConnection(
                BareEnvelope<NoFailure>.self,
                answering: "data: 1\n\n",
                type: "text/event-stream"
            )
            let found = await api.stream(of: Int.self, at: Enveloped(), as: .events(until: "[DONE]")).readToTheEnd()
            return try #require(found.error).description
        },
    ]

    private static func issue(
        _ declare: (Script<Enveloped<BareEnvelope<CodedFailure>>>) -> Void
    ) async throws -> String {
        let script = Script(for: Enveloped<BareEnvelope<CodedFailure>>.self, in: Place())
        declare(script)
        return try #require(await script.end().first).description
    }

    /// Mistakes in a test.
    static let tests = [
        Mistake("an answer that no request uses", says: " was never given.") {
            try await issue { $0.on(Enveloped()).answer(.status(204)) }
        },
        Mistake("an error of the backend with status 200", says: "decodes the body of a 200 as a value") {
            try await issue {
                $0.on(Enveloped()).answer(failure: CodedFailure(code: 7, message: "full"), status: 200)
            }
        },
        Mistake("canned JSON that does not fit the model", says: "does not fit GET http://api.example.com/it") {
            try await issue { $0.on(Enveloped(), as: Post.self).answer(.json(["id": 1])) }
        },
    ]
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The text of a decoding error names the cause.
struct DecodingAdviceTests {
    private struct Post: Codable, Sendable {
        var createdAt: String
    }

    private struct Dated: Codable, Sendable {
        var date: Date
    }

    private func text<Value: Codable & Sendable>(
        of body: String,
        as type: Value.Type,
        dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    ) async throws -> String {
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: body)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates
        decoder.keyDecodingStrategy = keys
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value(type, at: Enveloped(), options: CallOptions(decoder: decoder))
        }
        #expect(error.kind == .decodingFailed)
        return error.description
    }

    @Test(arguments: [
        ("{\"createdAt\": \"x\"\n \"b\": 2}", "line 2, column 2"),
        ("{\"createdAt\": \"x\"", "the end, line 1, column 18"),
        ("{'createdAt': 1}", "line 1, column 2"), ("\u{FEFF}[é, x]", "line 1, column 2"),
    ])
    func namesThePlaceOfASyntaxError(_ body: String, _ place: String) async throws {
        let text = try await text(of: body, as: Post.self)
        #expect(text.contains("at the top level: The given data was not valid JSON (at \(place))."), "\(text)")
    }

    @Test(arguments: [
        (
            "{\"created_at\":\"x\"}",
            "The server writes \"created_at\": make the connection's configuration with JSONCoding(keys: .snakeCase), "
                + "or use this name in the model's CodingKeys."
        ),
        (
            "{\"CreatedAt\":\"x\"}",
            "The server writes \"CreatedAt\": use this name in the model's CodingKeys."
        ),
        (
            "<!doctype html><title>Sign in</title>",
            "The body is HTML or XML: check the URL, and whether a proxy or a sign-in page responded."
        ),
        (
            "{\"createdAt\":\"x\"}\n{\"createdAt\":\"y\"}\n",
            "The body is JSON Lines: read it with stream(of:at:as:) as .jsonLines."
        ),
        (
            ": hello\nevent: post\ndata: {\"createdAt\":\"x\"}\n\n",
            "The body is an event stream: read it with stream(of:at:as:) as .events."
        ),
        (
            "[{\"createdAt\":\"x\"}]",
            "The body is an array: request [Post], or stream its elements with stream(of:at:as:) as .elements."
        ),
    ])
    func namesTheSettingOrTheFormat(_ body: String, _ advice: String) async throws {
        let text = try await text(of: body, as: Post.self)
        #expect(text.contains(". \(advice) The body: "), "\(text)")
    }

    private static let streams = [
        (
            "application/x-ndjson", "{\"createdAt\":\"x\"}\n",
            "The body is JSON Lines: read it with stream(of:at:as:) as .jsonLines."
        ),
        (
            "text/event-stream; charset=utf-8", "retry\n\ndata: {\"createdAt\":\"x\"}\n\n",
            "The body is an event stream: read it with stream(of:at:as:) as .events."
        ),
        (
            "application/json-seq", "\u{1E}{\"createdAt\":\"x\"}\n",
            "The body is a JSON text sequence: read it with stream(of:at:as:) as .jsonSequence."
        ),
    ]

    @Test(arguments: streams)
    func namesTheFormatOfAStreamThatWasNotRequested(_ type: String, _ body: String, _ advice: String) async throws {
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: body, type: type)
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value([Post].self, at: Enveloped())
        }
        #expect(error.kind == .unacceptableMediaType)
        #expect(error.description.contains(". \(advice) The body: "), "\(error)")
    }

    /// One line of JSON Lines is also one JSON value, and the body alone does not show the format.
    @Test(arguments: streams)
    func namesTheFormatOfARequestedStream(_ type: String, _ body: String, _ advice: String) async throws {
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: body, type: type)
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value([Post].self, at: Enveloped(), options: CallOptions(validation: .unchecked))
        }
        #expect(error.kind == .decodingFailed)
        #expect(error.description.contains(". \(advice) The body: "), "\(error)")
    }

    @Test func namesTheKeyOfAStreamWithOneLine() async throws {
        let type = "application/x-ndjson"
        let api = CannedConnection(BareEnvelope<NoFailure>.self, answering: "{\"created_at\":\"x\"}", type: type)
        let error = try await failure { () throws(ApiConnectorError) in
            try await api.value(Post.self, at: Enveloped(), options: CallOptions(validation: .unchecked))
        }
        #expect(error.description.contains("JSONCoding(keys: .snakeCase)"), "\(error)")
    }

    @Test func namesTheArrayInAnObject() async throws {
        let text = try await text(of: "{\"count\":1,\"items\":[{\"createdAt\":\"x\"}]}", as: [Post].self)
        let advice =
            "The body is an object with an array at \"items\": request a type that has it, or stream its elements with "
            + "stream(of:at:as:) as .elements(at: \"items\")."
        #expect(text.contains(advice), "\(text)")
    }

    @Test func namesTheOneObject() async throws {
        let text = try await text(of: "{\"createdAt\":\"x\"}", as: [Post].self)
        #expect(text.contains("The body is one object: request its type, not an array."), "\(text)")
    }

    @Test func advisesForAValueWithoutAModelAndForAnEvent() throws {
        let advice = "JSONCoding(keys: .snakeCase)"
        let value = try #require(throws: ApiConnectorError.self) {
            try (["created_at": "x"] as JSONValue).decoded(as: Post.self)
        }
        #expect(value.description.contains(advice), "\(value)")
        let event = ServerSentEvent(type: "post", data: "{\"created_at\":\"x\"}")
        let error = try #require(throws: ApiConnectorError.self) { try event.decoded(as: Post.self) }
        #expect(error.kind == .decodingFailed)
        #expect(error.description.contains(advice), "\(error)")
        let post: Post = try event.decoded(with: JSONCoding(keys: .snakeCase).makeDecoder())
        #expect(post.createdAt == "x")
    }

    @Test func namesTheStrategyOfADate() async throws {
        #expect(
            try await text(of: "{\"date\":\"2026-01-02T03:04:05Z\"}", as: Dated.self)
                .contains("If it is a date, make the connection's configuration with JSONCoding(dates: .iso8601).")
        )
        #expect(
            try await text(of: "{\"date\":\"2026-01-02\"}", as: Dated.self)
                .contains(
                    "If it is a date, make the connection's configuration with JSONCoding(dates: .text(_:read:))."
                )
        )
        // Without an offset it is no date of RFC 3339.
        #expect(
            try await text(of: "{\"date\":\"2026-01-02T03:04:05\"}", as: Dated.self)
                .contains(
                    "If it is a date, make the connection's configuration with JSONCoding(dates: .text(_:read:))."
                )
        )
        #expect(
            try await text(of: "{\"date\":1700000000}", as: Dated.self, dates: .iso8601)
                .contains(
                    "If it is a date, make the connection's configuration with JSONCoding(dates: .secondsSince1970)."
                )
        )
        #expect(
            try await text(of: "{\"date\":1700000000000}", as: Dated.self, dates: .iso8601)
                .contains(
                    "If it is a date, make the connection's configuration with JSONCoding(dates: .millisecondsSince1970)."
                )
        )
        // A smaller number is rarely a date: the first second of 1973 has 9 digits.
        #expect(
            try await !text(of: "{\"date\":100000000}", as: Dated.self, dates: .iso8601).contains("If it is a date")
        )
        #expect(
            try await text(of: "{\"date\":\"yesterday\"}", as: Dated.self)
                .contains("Compare the model with the server's JSON.")
        )
    }

    @Test func namesTheStyleOfADateThatAnotherStyleDoesNotRead() async throws {
        let dates = JSONCoding().makeDecoder().dateDecodingStrategy
        #expect(
            try await text(of: "{\"date\":\"2026-01-02\"}", as: Dated.self, dates: dates)
                .contains(
                    "If it is a date, make the connection's configuration with JSONCoding(dates: .text(_:read:))."
                )
        )
    }

    private struct Person: Codable, Sendable {
        var homePage = Page()

        struct Page: Codable, Sendable {
            var avatarURL = ""
            var seen = Date.distantPast
        }
    }

    @Test func knowsThatSnakeCaseIsSet() async throws {
        func text(_ body: String) async throws -> String {
            try await self.text(of: body, as: Person.self, keys: .convertFromSnakeCase)
        }
        #expect(
            try await text(#"{"home_page":{"avatar_url":"x","seen":0}}"#).contains(
                "The server writes \"avatar_url\", which .snakeCase reads as \"avatarUrl\": use this name in the "
                    + "model's CodingKeys."
            )
        )
        #expect(
            try await text(#"{"home_page":{"avatarURL":"x","seen":"2026-01-02T03:04:05Z"}}"#).contains(
                "If it is a date, make the connection's configuration with JSONCoding(dates: .iso8601, keys: .snakeCase)."
            )
        )
        // The library cannot know which keys a custom strategy reads.
        let own = try await self.text(of: #"{"created_at":1}"#, as: Post.self, keys: .custom { $0[$0.count - 1] })
        #expect(own.contains("Compare the model with the server's JSON."), "\(own)")
    }

    @Test func advisesForARecordOfAStream() async throws {
        let api = CannedConnection(
            BareEnvelope<NoFailure>.self,
            answering: "{\"created_at\":\"x\"}\n",
            type: "application/x-ndjson"
        )
        let error = try await failure { () throws(ApiConnectorError) in
            for try await post in api.stream(of: Post.self, at: Enveloped()) { return post }
            return Post(createdAt: "")
        }
        #expect(error.description.contains("JSONCoding(keys: .snakeCase)"), "\(error)")
    }
}

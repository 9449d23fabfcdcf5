// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// The placeholder of a secret, and its replay.
@Suite(.timeLimit(.minutes(10))) struct SecretPlaceholderTests: RecordingSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension SecretPlaceholderTests {
    @Test func aSecretHasOnePlaceholderInEveryPlaceOfHAR() async throws {
        let text = try await recorded(
            request(
                "http://h/?api_key=shh&page=2",
                ["Cookie": "sid=abc; theme=dark", "Content-Type": "application/x-www-form-urlencoded"],
                .text("user=ada&password=tea", mediaType: .form)
            ),
            .data(Data(#"{"token":"abc","pin":1234,"ok":true}"#.utf8), headers: ["Set-Cookie": "sid=abc; Path=/"])
        )
        let entry = try #require(JSONValue(text))["log"]["entries"][0]
        let request = entry["request"], response = entry["response"]
        #expect(request["url"] == "http://h/?api_key=REDACTED-api-key-1&page=2")
        #expect(request["queryString"][0]["value"] == "REDACTED-api-key-1")
        #expect(request["queryString"][1]["value"] == "2")
        #expect(request["headers"][0]["value"] == "sid=REDACTED-sid-1; theme=REDACTED-theme-1")
        #expect(request["cookies"][0] == ["name": "sid", "value": "REDACTED-sid-1"])
        #expect(request["postData"]["text"] == "user=ada&password=REDACTED-password-1")
        #expect(response["headers"][0]["value"] == "sid=REDACTED-sid-1; Path=/")
        #expect(response["cookies"][0] == ["name": "sid", "value": "REDACTED-sid-1"])
        #expect(response["content"]["text"] == #"{"token":"REDACTED-sid-1","pin":1,"ok":true}"#)
    }

    @Test func namesWithTheSamePlainFormGetDifferentPlaceholders() async throws {
        let secrets: RecordingSecrets = ["Bot key": "first-1-first", "bot-key": "second-2-second"]
        let sent = try request("http://h/", ["X-A": "first-1-first", "X-B": "second-2-second"])
        let answer = TestConnectorResponse.json(["a": "first-1-first", "b": "second-2-second"])
        #expect(try await !recorded(sent, answer, secrets).contains("second-2"))
        let response = try await TestConnector(try Replay(contentsOf: file, secrets: secrets)).response(for: sent)
        let body = try await response.body.collect(upTo: .max)
        let values = try JSONDecoder().decode([String: String].self, from: body)
        #expect(values == ["a": "first-1-first", "b": "second-2-second"])
    }

    @Test func shortSecretsAreReplacedOnlyWhereTheyAreNamed() async throws {
        let text = try await recorded(
            request("http://h/pugs/1", [:], .json(["password": "pug", "name": "pugsley", "otp": "1"])),
            .json(["note": "a pug"])
        )
        #expect(text.contains(#"http://h/pugs/1"#))
        #expect(text.contains("a pug"))
        #expect(text.contains("pugsley"))
        #expect(!text.contains(#"\"pug\""#))
    }

    @Test func secretsInLinesAndEventsAreReplacedToo() async throws {
        let lines = try await recorded(
            request("http://h/"),
            .data(Data("{\"id\":1,\"token\":\"abc\"}\n{\"id\":2,\"pin\":12}\n".utf8)).chunked(byteCount: 5)
        )
        #expect(lines.contains(#"{\"id\":1,\"token\":\"REDACTED-token-1\"}\n{\"id\":2,\"pin\":1}\n"#))
        let events = try await recorded(
            request("http://h/"),
            .data(Data("event: a\ndata: {\"token\":\"abc\"}\n\ndata: Bearer xyz\n\n".utf8))
        )
        #expect(events.contains(#"event: a\ndata: {\"token\":\"REDACTED-token-1\"}\n\ndata: Bearer REDACTED-secret-1"#))
    }

    @Test func aModelDecodesAsBefore() async throws {
        struct Account: Codable, Equatable {
            struct Session: Codable, Equatable {
                var id: Int
                var isNew: Bool
                var tokens: [String]
            }
            var session: Session
            var pin: Int
            var name: String
        }
        let account = Account(session: .init(id: 77, isNew: true, tokens: ["a", "b"]), pin: 1234, name: "Ada")
        let recorder = try Recorder(file, mode: .record)
        let sent = try request("http://h/")
        _ = try await TestConnector { _ in .json(account) }.recording(by: recorder).response(for: sent)
        try recorder.save()

        let response = try await TestConnector(try Replay(contentsOf: file)).response(for: sent)
        let body = try await response.body.collect(upTo: .max)
        let replayed = try JSONDecoder().decode(Account.self, from: body)
        #expect(replayed.name == "Ada")
        #expect(replayed.session.isNew)
        #expect(replayed.session.tokens == ["REDACTED-tokens-1", "REDACTED-tokens-2"])
        #expect(replayed.pin != 1234)
    }

    @Test func contentLengthIsUpdated() async throws {
        let json = Data(#"{"token":"abc"}"#.utf8)
        let answer = TestConnectorResponse.data(json, headers: ["Content-Length": "\(json.count)"])
        _ = try await recorded(request("http://h/"), answer)
        let response = try await TestConnector(try Replay(contentsOf: file)).response(for: request("http://h/"))
        let body = try await response.body.collect(upTo: .max)
        #expect(body.count > json.count)
        #expect(response.headers[.contentLength] == "\(body.count)")
    }

    @Test func aReplayedPlaceholderMatchesOnlyItself() async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { request in
            let user = String(request.headers[.authorization]?.suffix(3) ?? "")
            return request.method == .post
                ? .json(["token": "a-token-for-\(request.url.lastPathComponent)"]) : .json([user: user])
        }.recording(by: recorder)
        for user in ["ada", "ted"] {
            _ = try await provider.response(for: request("http://h/\(user)"))
        }
        func me(_ token: String) throws -> ApiRequest {
            ApiRequest(url: try #require(URL(string: "http://h/me")), headers: ["Authorization": "Bearer \(token)"])
        }
        for user in ["ada", "ted"] {
            _ = try await provider.response(for: me("a-token-for-\(user)"))
        }
        try recorder.save()

        let replay = TestConnector(try Replay(contentsOf: file))
        var tokens: [String] = []
        for user in ["ada", "ted"] {
            let body = try await replay.response(for: request("http://h/\(user)")).body.collect(upTo: .max)
            tokens.append(try JSONDecoder().decode([String: String].self, from: body)["token"] ?? "")
        }
        #expect(tokens == ["REDACTED-token-1", "REDACTED-token-2"])
        let second = try await replay.response(for: me(tokens[1])).body.collect(upTo: .max)
        #expect(String(decoding: second, as: UTF8.self) == #"{"ted":"ted"}"#)
        await #expect(throws: ApiConnectorError.self) { try await replay.response(for: me(tokens[1])) }
        let first = try await replay.response(for: me("any at all")).body.collect(upTo: .max)
        #expect(String(decoding: first, as: UTF8.self) == #"{"ada":"ada"}"#)
    }

    @Test func aValueWithASecretNameMatchesAnyValue() async throws {
        let recorder = try Recorder(file, mode: .record)
        func login(_ password: String, _ name: String) throws -> ApiRequest {
            try request("http://h/login?api_key=\(password)", [:], .json(["name": name, "password": password]))
        }
        _ = try await TestConnector { _ in .status(204) }.recording(by: recorder).response(for: login("real", "ada"))
        try recorder.save()

        let replay = TestConnector(try Replay(contentsOf: file))
        await #expect(throws: ApiConnectorError.self) { try await replay.response(for: login("real", "ted")) }
        #expect(try await replay.response(for: login("dummy", "ada")).status == 204)
    }

    @Test func aGivenSecretIsRestoredInAReplay() async throws {
        let answer = TestConnectorResponse.json(["hook": "https://h/bot77:x\"y/"], headers: ["X-Bot": "bot77:x\"y"])
        func sent(_ bot: String) throws -> ApiRequest {
            let path = bot.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try request("http://h/\(path)/send")
        }
        let text = try await recorded(sent("bot77:x\"y"), answer, ["bot": "bot77:x\"y"])
        #expect(text.contains("http://h/REDACTED-bot/send"))

        let replay = TestConnector(try Replay(contentsOf: file, secrets: ["bot": "dum\"my"]))
        let response = try await replay.response(for: sent("dum\"my"))
        let body = try await response.body.collect(upTo: .max)
        #expect(try JSONDecoder().decode([String: String].self, from: body) == ["hook": "https://h/dum\"my/"])
        #expect(response.headers["X-Bot"] == "dum\"my")
    }

    /// Makes a file whose first placeholder stands for a token.
    private func recordToken() async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .json(["token": "abc"]) }.recording(by: recorder)
        _ = try await provider.response(for: request("http://h/1"))
        try recorder.save()
    }

    @Test func aPlaceholderIsNeverSent() async throws {
        try await recordToken()
        let second = try Recorder(file, mode: .recordMissing)
        let provider = TestConnector { _ in .status(500) }.recording(by: second)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request("http://h/me", ["Authorization": "Bearer REDACTED-token-1"]))
        }
        #expect(
            error?.detail == """
                it is not in the recording, and cannot be sent with the placeholder REDACTED-token-1 \
                instead of a secret; give the secret \
                to RecordingSecrets by its value, or record everything again with APICONNECTOR_RECORDING=record
                """
        )
    }

    @Test func aPlaceholderInACompressedBodyIsNeverSent() async throws {
        try await recordToken()
        let second = try Recorder(file, mode: .recordMissing)
        let provider = TestConnector { _ in .status(500) }.recording(by: second).compressingBodies()
        let note = String(repeating: "tea and more tea, ", count: 200) + "REDACTED-token-1"
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request("http://h/me", [:], .text(note)))
        }
        #expect(error?.kind == .unmatched)
        #expect(error?.detail.contains("the placeholder REDACTED-token-1 instead of a secret") == true)
    }

    @Test func aPlaceholderInUTF16IsNeverSent() async throws {
        try await recordToken()
        let second = try Recorder(file, mode: .recordMissing)
        let provider = TestConnector { _ in .status(500) }.recording(by: second)
        let body = try #require("REDACTED-token-1".data(using: .utf16BigEndian))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request("http://h/me", [:], .data(body)))
        }
        #expect(error?.kind == .unmatched)
        #expect(error?.detail.contains("the placeholder REDACTED-token-1 instead of a secret") == true)
    }

    @Test func laterSecretsGetNewPlaceholders() async throws {
        try await recordToken()
        let second = try Recorder(file, mode: .recordMissing)
        _ = try await TestConnector { _ in .json(["token": "def"]) }.recording(by: second).response(
            for: request("http://h/2")
        )
        try second.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("REDACTED-token-1"))
        #expect(text.contains("REDACTED-token-2"))
    }
}

extension JSONValue {
    fileprivate init?(_ text: String) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}

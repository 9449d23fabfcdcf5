// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// What a recording holds of secrets: nothing.
@Suite(.timeLimit(.minutes(5)))
struct RecordedSecretTests {
    private let folder: TemporaryFolder
    private var file: URL { folder.file("shop.har") }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Records one exchange, and gives the file's text.
    private func recorded(
        _ request: ApiRequest,
        _ answer: TestConnectorResponse,
        _ secrets: RecordingSecrets = [:]
    ) async throws -> String {
        let recorder = try Recorder(file, mode: .record, secrets: secrets)
        let provider = TestConnector { _ in answer }.recorded(by: recorder)
        _ = try await provider.response(for: request)
        try recorder.save()
        return try String(contentsOf: file, encoding: .utf8)
    }

    private func request(_ url: String, _ headers: HTTPHeaders = [:], _ body: RequestBody = .empty) throws -> ApiRequest
    {
        ApiRequest(url: try #require(URL(string: url)), method: .post, headers: headers, body: body)
    }

    // MARK: - Check j

    private static let secret = "zqkAlpha\" \\/+&=%41é\u{1F511}zqkOmega"

    /// The secret in each form in which it could stand somewhere.
    private static let forms: [(name: String, text: String)] = {
        let once = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let lower = once.replacing(#/%../#) { $0.output.lowercased() }
        let twice = once.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let escaped = JSONValue.string(secret).description.dropFirst().dropLast()
        let units = secret.utf16.map {
            "\\u" + String(repeating: "0", count: 4 - String($0, radix: 16).count) + String($0, radix: 16)
        }
        let base64 = ["", "a", "ab"].map { Data(($0 + secret + "x").utf8).base64EncodedString() }
        return [
            ("raw", secret), ("percentEncoded", once), ("percentEncodedInLowerCase", lower), ("doubleEncoded", twice),
            ("jsonEscaped", String(escaped)),
            ("jsonEscapedTwice", String(JSONValue.string(String(escaped)).description.dropFirst().dropLast())),
            ("jsonEscapedWhole", units.joined()),
            ("percentEncodedJSON", String(escaped).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""),
            ("base64", base64[0]), ("base64AtOffset1", base64[1]), ("base64AtOffset2", base64[2]),
            ("base64URL", base64[0].replacing("+", with: "-").replacing("/", with: "_")),
            ("base64PercentEncoded", base64[1].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""),
        ]
    }()

    /// What no file may hold, whatever it was encoded in.
    private static let traces: [String] = {
        let parts = ["zqkAlpha", "zqkOmega"]
        let base64 = parts.flatMap { part in
            (0..<3).map { offset in
                let text = Data((String(repeating: "a", count: offset) + part).utf8).base64EncodedString()
                return String(text.dropFirst(4).prefix(4))
            }
        }
        return parts + base64 + ["u007a"]
    }()

    /// A text that a secret may stand in, at any place of an exchange.
    @Test(arguments: forms.indices)
    func checkJ_aPlantedSecretIsInNoFileOrNothingIsSaved(index: Int) async throws {
        let form = Self.forms[index]
        let plain = form.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? form.text : nil
        var cases: [(String, ApiRequest, TestConnectorResponse)] = [
            ("body", try request("http://h/", [:], .text("said \(form.text) so")), .status(200)),
            ("JSON", try request("http://h/", [:], .json(["note": form.text])), .status(200)),
            ("binary", try request("http://h/", [:], .data([0xFF, 0xFE] + Data(form.text.utf8))), .status(200)),
            ("answer", try request("http://h/"), .data(Data("said \(form.text) so".utf8))),
            ("JSON answer", try request("http://h/"), .json(["notes": [form.text]])),
            ("chunks", try request("http://h/"), .data(Data(form.text.utf8)).chunked(byteCount: 3)),
        ]
        if let plain {
            cases.append(("URL", try request("http://h/\(plain.replacing("+", with: "%2B"))/"), .status(200)))
            cases.append(("query", try request("http://h/?page=\(plain)"), .status(200)))
            cases.append(("header", try request("http://h/", ["X-Note": "of \(plain)"]), .status(200)))
            cases.append(("cookie", try request("http://h/", ["Cookie": "a=b; note=\(plain)"]), .status(200)))
            cases.append(("answer's header", try request("http://h/"), .status(200, headers: ["X-Note": plain])))
            cases.append(
                ("answer's cookie", try request("http://h/"), .status(200, headers: ["Set-Cookie": "a=\(plain)"]))
            )
        }
        #expect(cases.count >= 6)
        for (place, request, answer) in cases {
            try? FileManager.default.removeItem(at: file)
            do {
                let text = try await recorded(request, answer, ["planted": Self.secret])
                let readings = [text] + Self.decodedBodies(in: text)
                for reading in readings {
                    for trace in Self.traces {
                        #expect(!reading.contains(trace), "\(form.name) in \(place): \(trace)")
                    }
                }
            } catch let error as RecordingError {
                // It refuses, and writes nothing.
                #expect(error.description.contains("a secret is left in"), "\(form.name) in \(place)")
                #expect(folder.names == [])
            }
        }
    }

    /// The bodies that stand in base64.
    private static func decodedBodies(in text: String) -> [String] {
        text.matches(of: #/"text" : "([A-Za-z0-9+\/=]+)"/#).compactMap { match in
            Data(base64Encoded: String(match.1)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The same secret goes by a name in one place and by none in the others.
    @Test func checkJ_aSecretThatANameTellsIsFoundEverywhere() async throws {
        let secret = "tok-9f8e7d6c5b"
        let headers: HTTPHeaders = [
            "Authorization": "Bearer \(secret)", "X-Note": "for \(secret)", "Cookie": "sid=\(secret)",
        ]
        let text = try await recorded(
            request("http://h/a/\(secret)?access_token=\(secret)&x=\(secret)", headers, .form(["a": "of \(secret)"])),
            .json([
                "echo": ["of": "https://h/\(secret)"], "base": ["of": Data("a:\(secret)".utf8).base64EncodedString()],
            ])
        )
        #expect(!text.contains(secret))
        #expect(!text.contains(Data("a:\(secret)".utf8).base64EncodedString().dropFirst(4).prefix(12)))
        #expect(text.matches(of: #/REDACTED-access-token-1/#).count >= 8)
        #expect(text.matches(of: #/REDACTED-[a-z-]*-2/#).isEmpty)
    }

    @Test func checkJ_refusesToSaveWhatItCannotReplace() async throws {
        let card = "4111111111111111"
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .json(["order": 4_111_111_111_111_111]) }.recorded(by: recorder)
        _ = try await provider.response(for: request("http://h/pay", [:], .json(["cardNumber": card])))
        let error = #expect(throws: RecordingError.self) { try recorder.save() }
        #expect(
            error?.description == """
                shop.har was not saved: a secret is left in the answer's body, in exchange 1, POST http://h/pay: the one \
                that REDACTED-cardnumber-1 stands for; give its value to RecordingSecrets, or keep it out of the exchange
                """
        )
        #expect(folder.names == [])
    }

    @Test func checkJ_refusesASecretInAFieldsName() async throws {
        let recorder = try Recorder(file, mode: .record, secrets: ["planted": "zqkAlpha1"])
        let provider = TestConnector { _ in .status(200) }.recorded(by: recorder)
        _ = try await provider.response(for: request("http://h/", ["X-zqkAlpha1": "yes"]))
        let error = #expect(throws: RecordingError.self) { try recorder.save() }
        #expect(error?.description.contains("a secret is left in its entry in the file") == true)
        #expect(error?.description.contains("zqkAlpha1") == false)
        #expect(folder.names == [])
    }

    /// The name by which a credential goes is known from the request, though no redactor knows it.
    @Test(arguments: [true, false])
    func checkJ_aCredentialUnderANameOfItsOwnIsASecret(isInHeader: Bool) async throws {
        @Sendable func credential(_ key: String) -> ApiCredential {
            isInHeader ? .apiKey(key, inHeader: "X-Tea") : .apiKey(key, inQuery: "tea")
        }
        func provider(_ key: String, _ wrapped: some DataRequestType) -> some DataRequestType {
            let origin = URL(string: "http://h/") ?? URL(filePath: "/")
            return wrapped.authenticated(by: PerRequestCredentials { _ in credential(key) }, for: .origins(origin))
        }
        let key = "green-7f3a91"
        let recorder = try Recorder(file, mode: .record)
        let answer = TestConnector { _ in .json(["tea": key, "of": "the key \(key)"]) }
        let sent = try request("http://h/teas?page=1")
        _ = try await provider(key, answer.recorded(by: recorder)).response(for: sent)
        try recorder.save()

        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains(key))
        #expect(text.contains("REDACTED-tea-1") || text.contains("REDACTED-x-tea-1"))
        let replay = try Replay(contentsOf: file)
        let response = try await provider("another", TestConnector(replay)).response(for: sent)
        #expect(response.status == 200)
        #expect(replay.verdicts.isEmpty)
    }

    /// What may be a word by chance is not replaced by its value, and not saved either.
    @Test(arguments: ["swordfishes", "hunter2", "zqkaaa"])
    func checkJ_aShortSecretThatStandsElsewhereIsNotSaved(_ secret: String) async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .json(["error": "of \(secret)s there is none"]) }.recorded(by: recorder)
        _ = try await provider.response(for: request("http://h/login", [:], .json(["password": secret])))
        let error = #expect(throws: RecordingError.self) { try recorder.save() }
        #expect(error?.description.contains("a secret is left in the answer's body") == true)
        #expect(folder.names == [])
        // It is said how to go on.
        #expect(
            try await !recorded(
                request("http://h/login", [:], .json(["password": secret])),
                .json(["error": "of \(secret)s there is none"]),
                ["login": secret]
            ).contains(secret)
        )
    }

    @Test func checkJ_thePasswordOfBasicCredentialsIsASecret() async throws {
        let password = "open-Sesame-41"
        let credentials = Data("ali:\(password)".utf8).base64EncodedString()
        let text = try await recorded(
            request("http://h/of/\(password)", ["Authorization": "Basic \(credentials)"]),
            .json(["note": "it is \(password)"])
        )
        #expect(!text.contains(password) && !text.contains(credentials))
        #expect(text.contains("http://h/of/REDACTED-password-1"))
    }

    @Test func namesThatBecomeTheSamePlaceholderAreKeptApart() async throws {
        let secrets: RecordingSecrets = ["Bot key": "first-1-first", "bot-key": "second-2-second"]
        let sent = try request("http://h/", ["X-A": "first-1-first", "X-B": "second-2-second"])
        let answer = TestConnectorResponse.json(["a": "first-1-first", "b": "second-2-second"])
        #expect(try await !recorded(sent, answer, secrets).contains("second-2"))
        let response = try await TestConnector(try Replay(contentsOf: file, secrets: secrets)).response(for: sent)
        let body = try await response.body.collect(upTo: .max)
        let values = try JSONDecoder().decode([String: String].self, from: body)
        #expect(values == ["a": "first-1-first", "b": "second-2-second"])
    }

    // MARK: - Placeholders

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
        #expect(request["postData"]["params"][1] == ["name": "password", "value": "REDACTED-password-1"])
        #expect(response["headers"][0]["value"] == "sid=REDACTED-sid-1; Path=/")
        #expect(response["cookies"][0] == ["name": "sid", "value": "REDACTED-sid-1"])
        #expect(response["content"]["text"] == #"{"token":"REDACTED-sid-1","pin":1,"ok":true}"#)
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
        _ = try await TestConnector { _ in .json(account) }.recorded(by: recorder).response(for: sent)
        try recorder.save()

        let response = try await TestConnector(try Replay(contentsOf: file)).response(for: sent)
        let body = try await response.body.collect(upTo: .max)
        let replayed = try JSONDecoder().decode(Account.self, from: body)
        #expect(replayed.name == "Ada")
        #expect(replayed.session.isNew)
        #expect(replayed.session.tokens == ["REDACTED-tokens-1", "REDACTED-tokens-2"])
        #expect(replayed.pin != 1234)
    }

    @Test func aLengthStaysTrue() async throws {
        let json = Data(#"{"token":"abc"}"#.utf8)
        let answer = TestConnectorResponse.data(json, headers: ["Content-Length": "\(json.count)"])
        _ = try await recorded(request("http://h/"), answer)
        let response = try await TestConnector(try Replay(contentsOf: file)).response(for: request("http://h/"))
        let body = try await response.body.collect(upTo: .max)
        #expect(body.count > json.count)
        #expect(response.headers[.contentLength] == "\(body.count)")
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

    @Test func aPlaceholderThatWasHandedOutMatchesAndAnotherOneDoesNot() async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { request in
            let user = String(request.headers[.authorization]?.suffix(3) ?? "")
            return request.method == .post
                ? .json(["token": "a-token-for-\(request.url.lastPathComponent)"]) : .json([user: user])
        }.recorded(by: recorder)
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

    @Test func anySecretWillDoWhereANameSaysThatItIsOne() async throws {
        let recorder = try Recorder(file, mode: .record)
        func login(_ password: String, _ name: String) throws -> ApiRequest {
            try request("http://h/login?api_key=\(password)", [:], .json(["name": name, "password": password]))
        }
        _ = try await TestConnector { _ in .status(204) }.recorded(by: recorder).response(for: login("real", "ada"))
        try recorder.save()

        let replay = TestConnector(try Replay(contentsOf: file))
        await #expect(throws: ApiConnectorError.self) { try await replay.response(for: login("real", "ted")) }
        #expect(try await replay.response(for: login("dummy", "ada")).status == 204)
    }

    @Test func aGivenSecretIsPutBackWhenItIsReplayed() async throws {
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

    @Test func aPlaceholderIsNeverSent() async throws {
        let first = try Recorder(file, mode: .record)
        _ = try await TestConnector { _ in .json(["token": "abc"]) }.recorded(by: first).response(
            for: request("http://h/")
        )
        try first.save()

        let second = try Recorder(file, mode: .recordMissing)
        let provider = TestConnector { _ in .status(500) }.recorded(by: second)
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request("http://h/me", ["Authorization": "Bearer REDACTED-token-1"]))
        }
        #expect(
            error?.detail == """
                it is not in the recording, and cannot be sent with REDACTED-token-1 in place of a secret; give the secret \
                to RecordingSecrets by its value, or record everything anew with APICONNECTOR_RECORDING=record
                """
        )
    }

    @Test func laterSecretsGetNewPlaceholders() async throws {
        let first = try Recorder(file, mode: .record)
        _ = try await TestConnector { _ in .json(["token": "abc"]) }.recorded(by: first).response(
            for: request("http://h/1")
        )
        try first.save()
        let second = try Recorder(file, mode: .recordMissing)
        _ = try await TestConnector { _ in .json(["token": "def"]) }.recorded(by: second).response(
            for: request("http://h/2")
        )
        try second.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("REDACTED-token-1"))
        #expect(text.contains("REDACTED-token-2"))
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

    @Test func whateverIsRecordedNoNamedSecretIsLeft() async throws {
        var random = SplitMix64.printed()
        let pieces = [
            "token", "=", ":", "\"", "{", "}", "[", "]", "&", " ", "\n", "Bearer ", "password", "zqkAlpha9", ",", "\\",
            "%22",
            "//", "@", "data: ", "a", "1", "?", ";", "é", "<", ">", "/",
        ]
        for run in 0..<max(SplitMix64.caseCount / 50, 1) {
            let texts = (0..<2).map { _ in
                (0..<Int.random(in: 0...14, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined()
            }
            do {
                let text = try await recorded(
                    request("http://h/", ["Authorization": "Bearer zqkAlpha9"], .text(texts[0])),
                    .data(Data(texts[1].utf8)).chunked(byteCount: 4)
                )
                #expect(!text.contains("zqkAlpha9"), "run \(run): \(texts)")
                _ = try Recording(contentsOf: file)
            } catch let error as RecordingError {
                #expect(!error.description.contains("zqkAlpha9"), "run \(run): \(texts)")
            }
        }
    }
}

extension JSONValue {
    fileprivate init?(_ text: String) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}

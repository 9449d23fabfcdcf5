// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// A recording contains no secrets.
@Suite(.timeLimit(.minutes(10))) struct RecordedSecretTests: RecordingSuite {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }
}

extension RecordedSecretTests {
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

    /// Secrets that no file may contain, in any encoding.
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

    /// A text that may contain a secret, at any place of an exchange.
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
            } catch let error as FixtureError {
                // It refuses, and writes nothing.
                #expect(error.description.contains("a secret is left in"), "\(form.name) in \(place)")
                #expect(folder.names == [])
            }
        }
    }

    /// The bodies that are in base64.
    private static func decodedBodies(in text: String) -> [String] {
        text.matches(of: #/"text" : "([A-Za-z0-9+\/=]+)"/#).compactMap { match in
            Data(base64Encoded: String(match.1)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The same secret has a secret name in only one place.
    @Test func checkJ_aSecretWithASecretNameIsFoundEverywhere() async throws {
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
        let provider = TestConnector { _ in .json(["order": 4_111_111_111_111_111]) }.recording(by: recorder)
        _ = try await provider.response(for: request("http://h/pay", [:], .json(["cardNumber": card])))
        let error = #expect(throws: FixtureError.self) { try recorder.save() }
        #expect(
            error?.description == """
                shop.har was not saved: a secret is left in the answer's body, in exchange 1, POST http://h/pay: the value \
                that REDACTED-cardnumber-1 replaces; give that value to RecordingSecrets, or keep it out of the exchange
                """
        )
        #expect(folder.names == [])
    }

    /// The recorder is inside of the compression, and gets the compressed body.
    @Test func checkJ_aSecretInACompressedBodyIsReplaced() async throws {
        let recorder = try Recorder(file, mode: .record)
        let note = String(repeating: "tea and more tea, ", count: 200)
        let sent = try request("http://h/login", [:], .json(["note": note, "password": "zqkAlpha-9f31"]))
        _ = try await TestConnector { _ in .json(["echo": "zqkAlpha-9f31"]) }
            .recording(by: recorder)
            .compressingBodies()
            .response(for: sent)
        try recorder.save()

        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("zqkAlpha"))
        #expect(text.contains("REDACTED-password-1"))
        #expect(text.contains("tea and more tea"))
        let compressed = TestConnector(try Replay(contentsOf: file)).compressingBodies()
        #expect(try await compressed.response(for: sent).status == 200)
        #expect(try await TestConnector(try Replay(contentsOf: file)).response(for: sent).status == 200)
    }

    @Test func checkJ_refusesABodyWithAContentCoding() async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .status(204) }.recording(by: recorder)
        let body = RequestBody.data(Data([0x1F, 0x8B, 8, 0, 0]))
        _ = try await provider.response(for: request("http://h/", ["Content-Encoding": "gzip"], body))
        let error = #expect(throws: FixtureError.self) { try recorder.save() }
        #expect(
            error?.description == """
                shop.har was not saved: a secret may be left in its body, in exchange 1, POST http://h/: the body is \
                compressed, so it cannot be searched; compress it with compressingBodies(from:), send it uncompressed, \
                or send it through a provider without the recorder
                """
        )
        #expect(folder.names == [])
    }

    @Test(arguments: [true, false]) func checkJ_refusesASecretInUTF16(isInAnswer: Bool) async throws {
        let note = try #require(#"{"note":"tea"}"#.data(using: .utf16LittleEndian))
        let secret = try #require(#"{"password":"zqkAlpha"}"#.data(using: .utf16LittleEndian))
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .data(isInAnswer ? secret : note) }.recording(by: recorder)
        let body = RequestBody.data(isInAnswer ? note : secret, mediaType: .json)
        _ = try await provider.response(for: request("http://h/", [:], body))
        let error = #expect(throws: FixtureError.self) { try recorder.save() }
        #expect(
            error?.description == """
                shop.har was not saved: a secret is left in \(isInAnswer ? "the answer's body" : "its body"), in exchange 1, \
                POST http://h/: the body is in UTF-16 or UTF-32, in which it cannot be replaced; use UTF-8, or keep it out \
                of the exchange
                """
        )
        #expect(folder.names == [])
        #expect(try await !recorded(request("http://h/", [:], .data(note)), .data(note)).isEmpty)
    }

    private static let binaryStarts: [[UInt8]] = [
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0],  // gzip
        [0, 0, 0, 0x20, 0x66, 0x74, 0x79, 0x70],  // MP4
        [0, 1, 0, 0, 0, 0x11, 1, 0],  // TrueType
        [0, 0x61, 0x73, 0x6D, 1, 0, 0, 0],  // WebAssembly
        [0, 0, 0, 0, 0x2A, 0x0A, 0x28, 0x12],  // gRPC
    ]

    /// Many binary formats begin with zero bytes, and by chance their bytes look like a secret in text.
    @Test(arguments: binaryStarts) func checkJ_aBinaryBodyIsSavedAsItIs(start: [UInt8]) async throws {
        let body = Data(start) + Data("\u{1}//a@b\u{2}password=x\u{3}".utf8) + Data([0xC3, 0x28])
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .data(body) }.recording(by: recorder)
        _ = try await provider.response(for: request("http://h/"))
        try recorder.save()
        let replayed = try await TestConnector(try Replay(contentsOf: file)).response(for: request("http://h/"))
        #expect(try await replayed.body.collect(upTo: .max) == body)
    }

    @Test func checkJ_refusesASecretInAFieldsName() async throws {
        let recorder = try Recorder(file, mode: .record, secrets: ["planted": "zqkAlpha1"])
        let provider = TestConnector { _ in .status(200) }.recording(by: recorder)
        _ = try await provider.response(for: request("http://h/", ["X-zqkAlpha1": "yes"]))
        let error = #expect(throws: FixtureError.self) { try recorder.save() }
        #expect(error?.description.contains("a secret is left in its entry in the file") == true)
        #expect(error?.description.contains("zqkAlpha1") == false)
        #expect(folder.names == [])
    }

    /// The name by which a credential goes is known from the request, though no redactor knows it.
    @Test(arguments: [true, false])
    func checkJ_aCredentialInACustomFieldIsASecret(isInHeader: Bool) async throws {
        @Sendable func credential(_ key: String) -> ApiCredential {
            isInHeader ? .apiKey(key, inHeader: "X-Tea") : .apiKey(key, inQuery: "tea")
        }
        func provider(_ key: String, _ wrapped: some DataRequestType) -> some DataRequestType {
            let origin = URL(string: "http://h/") ?? URL(filePath: "/")
            return wrapped.authenticating(by: ApiCredential.perRequest { _ in credential(key) }, for: .origins(origin))
        }
        let key = "green-7f3a91"
        let recorder = try Recorder(file, mode: .record)
        let answer = TestConnector { _ in .json(["tea": key, "of": "the key \(key)"]) }
        let sent = try request("http://h/teas?page=1")
        _ = try await provider(key, answer.recording(by: recorder)).response(for: sent)
        try recorder.save()

        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains(key))
        #expect(text.contains("REDACTED-tea-1") || text.contains("REDACTED-x-tea-1"))
        let replay = try Replay(contentsOf: file)
        let response = try await provider("another", TestConnector(replay)).response(for: sent)
        #expect(response.status == 200)
        #expect(replay.issues.isEmpty)
    }

    /// A secret that may be an ordinary word is not replaced in other places, and the recording is not saved.
    @Test(arguments: ["swordfishes", "hunter2", "zqkaaa"])
    func checkJ_aShortSecretThatOccursElsewhereIsNotSaved(_ secret: String) async throws {
        let recorder = try Recorder(file, mode: .record)
        let provider = TestConnector { _ in .json(["error": "of \(secret)s there is none"]) }.recording(by: recorder)
        _ = try await provider.response(for: request("http://h/login", [:], .json(["password": secret])))
        let error = #expect(throws: FixtureError.self) { try recorder.save() }
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

    @Test func noRecordingContainsANamedSecret() async throws {
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
            } catch let error as FixtureError {
                #expect(!error.description.contains("zqkAlpha9"), "run \(run): \(texts)")
            }
        }
    }
}

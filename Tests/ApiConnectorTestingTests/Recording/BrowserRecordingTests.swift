// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnector
import ApiConnectorTesting
import Testing

/// HAR files that others wrote.
struct BrowserRecordingTests {
    /// As Chrome exports it: pseudo-fields, its own keys, joined cookies, base64, a body that was released, status 0.
    private static let chrome = #"""
        {
          "log": {
            "version": "1.2",
            "creator": {"name": "WebInspector", "version": "537.36"},
            "pages": [{"startedDateTime": "2026-01-02T03:04:05.678Z", "id": "page_1", "title": "x", "pageTimings": {}}],
            "entries": [
              {
                "_connectionId": "12", "_initiator": {"type": "script", "stack": {"callFrames": []}}, "_priority": "High",
                "_resourceType": "fetch", "cache": {}, "connection": "443", "pageref": "page_1",
                "request": {
                  "method": "GET", "url": "https://shop.example.com/teas?page=1", "httpVersion": "http/2.0",
                  "headers": [
                    {"name": ":authority", "value": "shop.example.com"}, {"name": ":method", "value": "GET"},
                    {"name": "accept", "value": "application/json"}
                  ],
                  "queryString": [{"name": "page", "value": "1"}], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [
                    {"name": "content-encoding", "value": "br"}, {"name": "content-length", "value": "21"},
                    {"name": "content-type", "value": "application/json; charset=iso-8859-1"},
                    {"name": "set-cookie", "value": "a=1; Path=/\nb=2; Path=/"}, {"name": "bad name", "value": "x"}
                  ],
                  "cookies": [],
                  "content": {"size": 31, "mimeType": "application/json", "text": "[{\"id\":1,\"name\":\"grün \ud83d\ude00\"}]"},
                  "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 210, "_error": null
                },
                "serverIPAddress": "[::1]", "startedDateTime": "2026-01-02T03:04:05.678Z", "time": 250.5,
                "timings": {"blocked": 50, "dns": -1, "ssl": -1, "connect": -1, "send": 0.25, "wait": 149.75, "receive": 50.5}
              },
              {
                "request": {"method": "GET", "url": "https://shop.example.com/logo", "headers": []},
                "response": {
                  "status": 200, "headers": [],
                  "content": {"size": 3, "mimeType": "image/png", "text": "/wD+", "encoding": "base64"}
                }
              },
              {
                "request": {"method": "GET", "url": "https://shop.example.com/large", "headers": []},
                "response": {"status": 200, "headers": [], "content": {"size": 123456, "mimeType": "text/plain"}}
              },
              {
                "request": {"method": "GET", "url": "https://shop.example.com/blocked", "headers": []},
                "response": {
                  "status": 0, "statusText": "", "headers": [], "content": {"size": 0, "mimeType": "x-unknown"},
                  "_error": "net::ERR_CONNECTION_REFUSED"
                }
              },
              {
                "request": {
                  "method": "POST", "url": "https://shop.example.com/login", "headers": [], "bodySize": 24,
                  "postData": {
                    "mimeType": "application/x-www-form-urlencoded",
                    "params": [{"name": "user", "value": "ada b"}, {"name": "note", "value": "a+b&c"}]
                  }
                },
                "response": {"status": 302, "headers": [{"name": "Location", "value": "/"}], "content": {"size": 0}}
              },
              {
                "request": {"method": "GET", "url": "data:image/png;base64,AAAA", "headers": []},
                "response": {"status": 200, "headers": [], "content": {}}
              }
            ]
          }
        }
        """#

    private static let firefox = #"""
        {"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "140.0"},
          "browser": {"name": "Firefox", "version": "140.0"}, "pages": [],
          "entries": [{"startedDateTime": "2026-01-02T03:04:05.678+01:00",
            "request": {"bodySize": 12, "method": "PUT", "url": "http://127.0.0.1/teas/1", "httpVersion": "HTTP/1.1",
              "headers": [{"name": "Content-Type", "value": "application/json"}], "cookies": [], "queryString": [],
              "headersSize": 400, "postData": {"mimeType": "application/json", "params": [], "text": "{\"id\":1}"}},
            "response": {"status": 204, "statusText": "No Content", "httpVersion": "HTTP/1.1",
              "headers": [{"name": "Date", "value": "x"}], "cookies": [],
              "content": {"mimeType": "text/plain", "size": 0, "text": ""}, "redirectURL": "", "headersSize": 90,
              "bodySize": 90},
            "cache": {}, "timings": {"blocked": 0, "dns": 0, "connect": 0, "ssl": 0, "send": 0, "wait": 7, "receive": 0},
            "time": 7, "_securityState": "insecure", "serverIPAddress": "127.0.0.1", "connection": "80"}]}}
        """#

    /// Safari leaves out what it does not have.
    private static let safari = #"""
        {"log":{"version":"1.2","creator":{"name":"WebKit Web Inspector","version":"1.0"},"pages":[],"entries":[
        {"startedDateTime":"2026-01-02T03:04:05Z","time":1,"request":{"method":"GET","url":"http://h/a","httpVersion":"",
        "cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":-1},"response":{"status":200,
        "statusText":"OK","httpVersion":"","cookies":[],"headers":[{"name":"Content-Type","value":"text/plain"}],
        "content":{"size":2,"compression":0,"mimeType":"text/plain","text":"ok"},"redirectURL":"","headersSize":-1,
        "bodySize":-1,"_transferSize":100},"cache":{},"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":0,
        "wait":1,"receive":0},"_fetchType":"Network Load","_priority":"high"}]}}
        """#

    private func get(_ url: String) throws -> ApiRequest { ApiRequest(url: try #require(URL(string: url))) }

    @Test func answersAsChromeSawIt() async throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let replay = TestConnector(Replay(try Recording(har: mark + Data(Self.chrome.utf8))))
        let teas = try await replay.response(for: get("https://shop.example.com/teas?page=1"))
        #expect(
            teas.headers.map { "\($0.name.rawValue): \($0.value)" } == [
                "Content-Type: application/json; charset=utf-8", "set-cookie: a=1; Path=/", "set-cookie: b=2; Path=/",
            ]
        )
        let body = try await teas.body.collect(upTo: .max)
        #expect(try JSONDecoder().decode([Tea].self, from: body) == [Tea(id: 1, name: "grün 😀")])

        let logo = try await replay.response(for: get("https://shop.example.com/logo"))
        #expect(logo.headers[.contentType] == "image/png")
        #expect(try await logo.body.collect(upTo: .max) == Data([0xFF, 0x00, 0xFE]))

        let large = await #expect(throws: ApiConnectorError.self) {
            try await replay.response(for: get("https://shop.example.com/large"))
        }
        #expect(large?.kind == .unmatched)
        #expect(large?.detail == "the recording has the answer's head but not its body; export it again with content")

        let blocked = await #expect(throws: ApiConnectorError.self) {
            try await replay.response(for: get("https://shop.example.com/blocked"))
        }
        #expect(blocked?.kind == .cannotConnect)
        #expect(blocked?.detail == "the recording has no answer, but status 0 and net::ERR_CONNECTION_REFUSED")

        var login = try get("https://shop.example.com/login")
        login.method = .post
        login.body = .text("user=ada%20b&note=a%2Bb%26c", mediaType: .form)
        #expect(try await replay.response(for: login).headers[.location] == "/")
    }

    @Test func waitsAsLongAsTheBrowserDid() async throws {
        let clock = ManualClock()
        let recording = try Recording(har: Data(Self.chrome.utf8))
        let api = NetworkConnector(
            environment: .test,
            provider: TestConnector(Replay(recording, pace: .recorded)),
            router: Shop.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let call = Task { try await api.value([Tea].self, at: .teas(page: 1)) }
        #expect(try await clock.nextSleep() == .milliseconds(200))
        clock.advance(by: .milliseconds(200))
        #expect(try await clock.nextSleep() == .microseconds(50_500))
        clock.advance(by: .seconds(1))
        #expect(try await call.value.count == 1)
    }

    @Test func answersAsFirefoxAndSafariSawIt() async throws {
        let firefox = TestConnector(Replay(try Recording(har: Data(Self.firefox.utf8))))
        var put = try get("http://127.0.0.1/teas/1")
        put.method = .put
        put.body = .text(#"{ "id": 1 }"#, mediaType: .json)
        #expect(try await firefox.response(for: put).status == 204)

        let safari = TestConnector(Replay(try Recording(har: Data(Self.safari.utf8))))
        let body = try await safari.response(for: get("http://h/a")).body.collect(upTo: .max)
        #expect(body == Data("ok".utf8))
    }

    @Test(
        arguments: [
            ("", "line 1, column 1: it is not JSON: it ends where a value was expected"),
            ("{\n \"log\": {\n  \"entries\": [}\n", "line 3, column 15: it is not JSON: a value was expected"),
            ("{\"a\": \"\\x\"}", "line 1, column 8: it is not JSON: the escape is unknown"),
            ("{\"a\": \"\\u12\"}", "line 1, column 8: it is not JSON: four hexadecimal digits were expected after \\u"),
            ("{\"a\": \"b", "line 1, column 7: it is not JSON: a string does not end"),
            ("{\"a\": 1-}", "line 1, column 7: it is not JSON: a number was expected"),
            ("{} {}", "line 1, column 4: it is not JSON: there is text after the end of the JSON"),
            ("[1]", "line 1, column 1: the file must be an object"),
            ("{\"log\": {}}", "line 1, column 9: log has no \"entries\""),
            ("{\"log\": {\"entries\": {}}}", "line 1, column 21: log.entries must be an array"),
            ("{\"log\": {\"entries\": [{}]}}", "line 1, column 22: log.entries[0] has no \"request\""),
            (
                "{\"log\": {\"entries\": [\n{\"request\": {\"method\": 1}}]}}",
                "line 2, column 24: log.entries[0].request.method must be a string"
            ),
            (
                "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"http://h/\"},\n \"response\": {\"status\": 1.5}}]}}",
                "line 2, column 25: log.entries[0].response.status must be a whole number"
            ),
            (
                "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"http://h/\"},\n \"response\": {\"status\": 200, \"content\": {\"encoding\": \"base64\",\n\"text\": \"a?\"}}}]}}",
                "line 3, column 9: log.entries[0].response.content.text must be base64"
            ),
        ] as [(String, String)]
    )
    func reportsTheLineOfAnError(text: String, wanted: String) {
        let error = #expect(throws: FixtureError.self) { try Recording(har: Data(text.utf8), name: "a.har") }
        #expect(error?.description == "a.har, \(wanted)")
    }

    @Test func refusesUTF16WithAnExplanation() {
        let error = #expect(throws: FixtureError.self) {
            try Recording(har: Data([0xFF, 0xFE, 0x7B, 0x00]), name: "a.har")
        }
        #expect(error?.description == "a.har is in UTF-16; save it in UTF-8")
    }

    @Test func excessiveNestingIsRefused() {
        let text = String(repeating: "[", count: 100_000)
        let error = #expect(throws: FixtureError.self) { try Recording(har: Data(text.utf8)) }
        #expect(error?.description.contains("nested deeper than 512 levels") == true)
    }

    /// Each of them is looked at once: else this would never end.
    @Test(.timeLimit(.minutes(10))) func readsABodyFullOfEscapes() throws {
        let escapes = String(repeating: #"\/"#, count: 2_000_000)
        let text = Self.firefox.replacing("\"text\": \"", with: "\"text\": \"\(escapes)", maxReplacements: 1)
        #expect(text.utf8.count > 4_000_000)
        _ = try Recording(har: Data(text.utf8))
    }

    @Test func noTruncatedFileTraps() {
        let bytes = Data(Self.firefox.utf8)
        var readCount = 0
        for end in bytes.indices where (try? Recording(har: bytes[..<end])) != nil { readCount += 1 }
        // Up to the last brace it is no JSON.
        #expect(readCount == 0)
    }

    @Test func noFileTraps() async throws {
        var random = SplitMix64.printed()
        let files = [Self.chrome, Self.firefox, Self.safari].map { Array($0.utf8) }
        let values = [
            "null", "-1", "1e999", "-9e99", "0", "[]", "{}", "\"\"", "\"x\"", "true", "1.5", "\"\\ud800\"",
            "99999999999999999999",
        ]
        var readCount = 0
        // With every seed, some of a hundred files can be read.
        for _ in 0..<max(SplitMix64.caseCount / 10, 100) {
            var bytes = files.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Replaces a value, which is the text between a colon and a comma.
                let colons = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
                guard let start = colons.randomElement(using: &random),
                    let end = bytes[start...].firstIndex(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") })
                else { continue }
                bytes.replaceSubrange(start + 1..<end, with: Array((values.randomElement(using: &random) ?? "").utf8))
            }
            if Int.random(in: 0...3, using: &random) == 0, !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let recording = try? Recording(har: Data(bytes)) else { continue }
            readCount += 1
            let replay = TestConnector(Replay(recording))
            for request in recording.requests {
                _ = try? await replay.response(for: request).body.collect(upTo: .max)
            }
        }
        #expect(readCount > 0)
    }
}

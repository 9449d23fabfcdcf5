// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import TestSupport
import Testing

#if os(macOS) || os(Linux)
struct CurlCommandTests {
    private static let awkward = [
        "plain", "", " ", "it's", "''", "\"quoted\"", "$HOME", "$(id)", "`id`", "a!b", "!!", "back\\slash", "\\n",
        "%s%d%%",
        "line\nfeed", "\n", "end\n\n", "tab\there", "cr\rlf\r\n", "\u{1B}[31m", "\u{85}\u{7F}", "é\u{1F511}",
        "'\u{301}",
        "-dash", "--", "-n", "@file", "@-", "#no comment", "~", "*?", "a;b|c&d>e<f", "{a,b}", "[1-3]", "\u{200B}",
    ]

    @Test(arguments: awkward)
    func bodyPassesThroughAShell(value: String) throws {
        let request = try request("http://h/", .post, body: .text(value, mediaType: .octetStream))
        let call = try FakeCurl.run(request.curlCommand(redacting: nil))
        #expect(call.body == Data(value.utf8))
        let options = ["--request", "POST", "--url", "http://h/", "--header", "Content-Type: application/octet-stream"]
        #expect(Array(call.arguments.dropLast(2)) == options)
    }

    @Test(arguments: awkward)
    func headerPassesThroughAShell(value: String) throws {
        var request = try request("http://h/")
        request.headers.append("X-Value", value)
        let call = try FakeCurl.run(request.curlCommand(redacting: nil))
        let trimmed = request.headers["X-Value"]
        let field = trimmed.map { ["--header", $0.isEmpty ? "X-Value;" : "X-Value: \($0)"] } ?? []
        #expect(call.arguments == ["--url", "http://h/"] + field)
    }

    @Test(arguments: awkward)
    func methodAndURLPassThroughAShell(value: String) throws {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("http", "h", "/" + value)
        let url = try #require(parts.url)
        let call = try FakeCurl.run(
            ApiRequest(url: url, method: HTTPMethod(rawValue: value)).curlCommand(redacting: nil)
        )
        #expect(Array(call.arguments.suffix(2)) == ["--url", url.absoluteString])
        #expect(Array(call.arguments.prefix(2)) == ["--request", value])
    }

    @Test func bytesPassThroughAShell() throws {
        let bytes = Data((0...255).map { UInt8($0) } + "-%s\\101'".utf8)
        for data in [bytes, Data(bytes.reversed()), Data([0]), Data("-\u{0}".utf8), Data("é\u{0}%é".utf8)] {
            let call = try FakeCurl.run(try request("http://h/", .put, body: .data(data)).curlCommand(redacting: nil))
            #expect(call.arguments.last == "@-")
            #expect(call.input == data)
        }
    }

    /// No secret can be found in its bytes.
    @Test func aBodyWithAContentCodingIsShownByItsSize() throws {
        var request = try request("http://h/", .post, body: .data(Data([0x1F, 0x8B, 8, 0, 0])))
        request.headers[.contentEncoding] = "gzip"
        #expect(!request.curlCommand().contains("printf"))
        for compressing in ["gzip", "snappy", "aws-chunked, x-own"] {
            request.headers[.contentEncoding] = compressing
            #expect(request.curlCommand().contains("<5 bytes with a Content-Encoding>"))
        }
        request.headers[.contentEncoding] = "gzip"
        #expect(try FakeCurl.run(request.curlCommand(redacting: nil)).input == Data([0x1F, 0x8B, 8, 0, 0]))
        for readable in ["identity", "aws-chunked"] {
            request.headers[.contentEncoding] = readable
            #expect(request.curlCommand().contains("printf"))
        }
        request.headers[.contentEncoding] = "gzip"
        request.body = .stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }
        #expect(!request.curlCommand().contains(" bytes with"))
    }

    @Test func longBodiesPassThroughAShell() throws {
        let data = Data(String(repeating: "it's 100 % \"long\"\n", count: 20_000).utf8)
        let call = try FakeCurl.run(try request("http://h/", .put, body: .data(data)).curlCommand(redacting: nil))
        #expect(call.input == data)
    }

    @Test func disablesCurlsOwnSyntax() throws {
        let globs = try FakeCurl.run(try request("http://[::1]/a").curlCommand())
        #expect(globs.arguments == ["--globoff", "--url", "http://[::1]/a"])
        let dots = try FakeCurl.run(try request("http://h/a/../b").curlCommand())
        #expect(dots.arguments == ["--path-as-is", "--url", "http://h/a/../b"])
        let head = try FakeCurl.run(try request("http://h/", .head).curlCommand())
        #expect(head.arguments == ["--head", "--url", "http://h/"])
    }

    @Test func redactsUnlessNilIsPassed() throws {
        var request = try request(
            "https://joe:pw@api.example.com/login?token=t&page=2",
            .post,
            body: .json(["user": "O'Neil", "password": "p"])
        )
        request.headers = [
            "Accept": "application/json", "Authorization": "Bearer abc", "Content-Type": "application/json",
            "Content-Length": "36",
        ]
        let redacted = #"""
            curl --request POST \
              --url 'https://REDACTED@api.example.com/login?token=REDACTED&page=2' \
              --header 'Accept: application/json' \
              --header 'Authorization: Bearer REDACTED' \
              --header 'Content-Type: application/json' \
              --data-raw '{"password":"REDACTED","user":"O'\''Neil"}'
            """#
        let whole = #"""
            curl --request POST \
              --url 'https://joe:pw@api.example.com/login?token=t&page=2' \
              --header 'Accept: application/json' \
              --header 'Authorization: Bearer abc' \
              --header 'Content-Type: application/json' \
              --header 'Content-Length: 36' \
              --data-raw '{"password":"p","user":"O'\''Neil"}'
            """#
        #expect(request.curlCommand() == redacted)
        #expect(request.curlCommand(redacting: nil) == whole)
        #expect(request.curlCommand(redacting: Redactor(bodyFieldNames: ["user"])).contains(#""user":"REDACTED""#))
    }

    @Test func redactsBodiesThatAreNoText() throws {
        let body = Data("a=\u{0}&password=secret&b=\u{1}".utf8)
        let command = try request("http://h/", .post, body: .data(body, mediaType: .form)).curlCommand()
        #expect(command.hasPrefix(#"printf 'a=\000&password=REDACTED&b=\001' | curl --request POST \"#))
    }

    @Test func saysThatABodyDoesNotEncode() throws {
        let command = try request("http://h/", .post, body: .json(Double.infinity)).curlCommand()
        #expect(command.contains("--data-raw '<the body, a value of type Double, does not encode as JSON"))
    }

    private func request(_ url: String, _ method: HTTPMethod = .get, body: RequestBody = .empty) throws -> ApiRequest {
        ApiRequest(url: try #require(URL(string: url)), method: method, body: body)
    }
}

/// A real shell with a function that replaces `curl` and prints its arguments.
private struct FakeCurl {
    let arguments: [String]
    let input: Data

    /// The body that curl would send.
    var body: Data {
        arguments.suffix(2).first == "--data-binary" ? input : Data((arguments.last ?? "").utf8)
    }

    // No file in the path: while another test forks, a program just written cannot be run, and the real one is.
    private static let function = """
        curl() {
          for argument in "$@"; do printf '%s\\0' "$argument"; done
          printf 'end\\0'
          cat
        }

        """

    static func run(_ command: String) throws -> FakeCurl {
        let script = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sh")
        try Data((function + command).utf8).write(to: script)
        defer { try? FileManager.default.removeItem(at: script) }
        // From a file, as typed: an argument of `sh -c` may not be longer than 128 KiB.
        let shell = try Shell("PATH=/usr/bin:/bin HOME=/nowhere /bin/sh '\(script.path)'")
        let data = shell.rest()
        try #require(shell.end() == 0)

        let marker = Data("end\0".utf8)
        let end = try #require(data.range(of: marker))
        let arguments = data[..<end.lowerBound].split(separator: 0, omittingEmptySubsequences: false).dropLast()
        return FakeCurl(
            arguments: arguments.map { String(decoding: $0, as: UTF8.self) },
            input: Data(data[end.upperBound...])
        )
    }
}
#endif

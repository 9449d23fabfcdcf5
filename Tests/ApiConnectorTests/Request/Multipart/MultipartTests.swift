// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct MultipartTests {
    private static func form(_ parts: [MultipartPart], seed: UInt64 = 1) -> RequestBody {
        var generator = SplitMix64(seed: seed)
        return .multipart(parts, using: &generator)
    }

    private static func text(of body: RequestBody) async throws -> String {
        String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self)
    }

    @Test func isWrittenByteForByte() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("\u{0}\r\n--x".utf8), to: "a \"b\".bin")
        let body = Self.form([
            .text("Ted's first", name: "title"),
            .json([1, 2], name: "tags"),
            .data(Data("GIF".utf8), name: "photo", fileName: "p.gif", mediaType: MediaType("image", "gif")),
            .file(file, name: "raw"),
            MultipartPart(.text("x"), name: "more", headers: ["X-Part": "1", "Content-Disposition": "attachment"]),
        ])
        let b = "part-910a2dec89025cc1beeb8da1658eec67"
        let expected =
            "--\(b)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nTed's first"
            + "\r\n--\(b)\r\nContent-Disposition: form-data; name=\"tags\"\r\n"
            + "Content-Type: application/json\r\n\r\n[1,2]"
            + "\r\n--\(b)\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"p.gif\"\r\n"
            + "Content-Type: image/gif\r\n\r\nGIF"
            + "\r\n--\(b)\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"a %22b%22.bin\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n\u{0}\r\n--x"
            + "\r\n--\(b)\r\nContent-Disposition: form-data; name=\"more\"\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\nX-Part: 1\r\n\r\nx"
            + "\r\n--\(b)--\r\n"
        #expect(try await Self.text(of: body) == expected)
        #expect(body.mediaType?.description == "multipart/form-data; boundary=\(b)")
        #expect(body.isReplayable && body.isStreamed)
        let encoded = try body.encoded(with: JSONEncoder())
        #expect(encoded.byteCount == expected.utf8.count)
        #expect(try await Self.text(of: encoded) == expected)
        #expect(try await Self.text(of: encoded) == expected)
    }

    @Test func theLengthIsUnknownIfItIsNotANumber() throws {
        let chunks = AsyncStream<Data> { $0.finish() }
        let part = MultipartPart(.stream(byteCount: .max) { chunks }, name: "huge")
        #expect(try Self.form([part, part]).encoded(with: JSONEncoder()).byteCount == nil)
    }

    @Test func isClosedAtOnceWithoutParts() async throws {
        #expect(try await Self.text(of: Self.form([])) == "--part-910a2dec89025cc1beeb8da1658eec67--\r\n")
    }

    /// The WHATWG's HTML standard, "multipart/form-data encoding algorithm".
    @Test(arguments: [
        ("plain", "plain", "plain"), ("a\"b", "a%22b", "a%22b"), ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("a\nb", "a%0D%0Ab", "a%0Ab"), ("a\rb", "a%0D%0Ab", "a%0Db"), ("\n\r", "%0D%0A%0D%0A", "%0A%0D"),
        ("%22\\;é例", "%22\\;é例", "%22\\;é例"), ("\"\u{301}", "%22\u{301}", "%22\u{301}"), ("", "", ""),
    ])
    func escapesNamesAsBrowsersDo(_ text: String, _ name: String, _ fileName: String) async throws {
        let body = Self.form([.data(Data(), name: text, fileName: text)])
        let form = ParsedForm(
            try await body.collect(upTo: 1000),
            contentType: body.mediaType?.description
        )
        #expect(
            form?.parts.first?.head.first
                == "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\""
        )
    }

    @Test func hasANewBoundaryEachTime() {
        let boundaries = (0..<100).compactMap { _ in RequestBody.multipart([]).mediaType?[parameter: "boundary"] }
        #expect(Set(boundaries).count == 100)
        #expect(boundaries.allSatisfy { $0.utf8.count == 37 && !$0.contains("\"") })
        #expect(Self.form([], seed: 0).mediaType?[parameter: "boundary"] == "part-e220a8397b1dcdaf6e789e6aa1b965f4")
    }

    @Test func knowsItsLengthWhereEachPartDoesAndIsReplayableWhereEachPartIs() {
        let chunks = { @Sendable in AsyncStream<Data> { $0.finish() } }
        let known = MultipartPart(.stream(byteCount: 5, chunks), name: "a")
        let unknown = MultipartPart(.stream(chunks), name: "b")
        let once = MultipartPart(.stream(byteCount: 0, isReplayable: false, chunks), name: "c")
        #expect(Self.form([known]).byteCount != nil)
        #expect(Self.form([known, unknown]).byteCount == nil)
        #expect(Self.form([known, unknown]).isReplayable)
        #expect(!Self.form([known, once]).isReplayable)
    }

    @Test func readsEachPartOnlyWhenItIsSent() async throws {
        let made = Locked<[String]>([])
        let part = { @Sendable (name: String) in
            let body = RequestBody.stream {
                made.withLock { $0.append(name) }
                return AsyncStream<Data> { continuation in
                    continuation.yield(Data(name.utf8))
                    continuation.finish()
                }
            }
            return MultipartPart(body, name: name)
        }
        var seen: [String] = []
        try await Self.form([part("one"), part("two")]).send { (chunk) throws(ApiConnectorError) in
            let text = String(decoding: chunk, as: UTF8.self)
            seen.append("\(text.count) after \(made.withLock { $0.joined(separator: " ") })")
        }
        #expect(seen == ["123 after ", "3 after one", "124 after one", "3 after one two", "43 after one two"])
    }

    @Test(arguments: [
        (MultipartPart.text("", name: "a\u{0}"), "its name"),
        (MultipartPart.data(Data(), name: "a", fileName: "\u{0}"), "its name"),
        (MultipartPart(.text("x"), name: "a", headers: ["X-A": "1\r\nX-B: 2"]), "its header field X-A"),
        (MultipartPart(.text("x"), name: "a", headers: ["X-A": "\u{0}"]), "its header field X-A"),
        (MultipartPart(.text("x"), name: "a", headers: ["X A": "1"]), "its header field X A"),
    ])
    func refusesInvalidHeaderValuesInAPart(_ part: MultipartPart, _ what: String) async throws {
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .status(204) },
            router: Endpoint<ApiPath>.self
        )
        var endpoint = Endpoint<ApiPath>(path: "/", method: .post)
        endpoint.body = .multipart([part])
        let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: endpoint) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail.contains("\(what) cannot be sent") == true, "\(error?.detail ?? "")")
        // Without a connection too, a transport sends nothing of such a part.
        await #expect(throws: ApiConnectorError.self) { try await endpoint.body.collect(upTo: 1000) }
    }

    @Test func saysThatAFileIsMissingBeforeAnythingIsSent() async throws {
        let asked = Locked(0)
        let api = NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in
                asked.withLock { $0 += 1 }
                return .status(204)
            },
            router: Endpoint<ApiPath>.self
        )
        let folder = try TemporaryFolder()
        let missing = folder.file("no.txt")
        for (body, detail) in [
            (
                RequestBody.multipart([.file(missing, name: "a")]),
                "the part \"a\": the file \(missing.path) cannot be read: "
            ),
            (.file(missing), "the file \(missing.path) cannot be read: No such file or directory"),
            (.file(folder.url), "cannot be read: it is a directory"),
        ] {
            var endpoint = Endpoint<ApiPath>(path: "/", method: .post)
            endpoint.body = body
            let error = await #expect(throws: ApiConnectorError.self) { try await api.send(at: endpoint) }
            #expect(error?.kind == .encodingFailed)
            #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
        }
        #expect(asked.withLock { $0 } == 0)
    }

    @Test(arguments: Wire.allCases)
    func arrivesUnchangedAlsoAfterARedirect(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { request in
            if request.target == "/old" {
                return LoopbackResponse(status: 307, headers: [(name: "Location", value: "/new")])
            }
            let form = ParsedForm(request.body, contentType: request.header("Content-Type"))
            return .text(form?.parts.map { "\($0.body.count)" }.joined(separator: " ") ?? "none")
        }
        let folder = try TemporaryFolder()
        let file = try folder.write(Data.counting(by: 3, byteCount: 200_000), to: "large.bin")
        var endpoint = Endpoint<ApiPath>(path: "/old", method: .post)
        endpoint.body = .multipart([
            .text("a\nb", name: "text"), .json(["k": "v"], name: "json"), .file(file, name: "file"),
        ])
        let answer = try await web.connection().data(at: endpoint)
        #expect(String(decoding: answer, as: UTF8.self) == "3 9 200000")
        #expect(web.requests.count == 2)
        #expect(web.requests.first?.body == web.requests.last?.body)
        if wire != .testConnector {
            #expect(web.requests.last?.header("Content-Length") == "\(web.requests.last?.body.count ?? 0)")
        }
    }

    @Test func everyWrittenFormParsesAgain() async throws {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount / 10 {
            let parts = (0..<Int(texts.next().utf8.count % 4)).map { _ in
                let name = texts.next().withoutControlCharacters(except: ["\t", "\r", "\n"])
                return MultipartPart.data(Data(texts.next().utf8), name: name, fileName: name)
            }
            let body = RequestBody.multipart(parts)
            let data = try await body.collect(upTo: 1 << 20)
            let form = ParsedForm(data, contentType: body.mediaType?.description)
            let isSame = form?.parts.map(\.body) == (try await Self.bodies(of: parts))
            let heads = form?.parts.map { $0.head.count } ?? []
            if !isSame || heads != parts.map({ _ in 2 }) || data.count != body.byteCount {
                failures.append(String(decoding: data, as: UTF8.self).debugDescription)
            }
        }
        #expect(failures.isEmpty, "\(failures.prefix(3))")
    }

    private static func bodies(of parts: [MultipartPart]) async throws -> [Data] {
        var bodies: [Data] = []
        for part in parts { bodies.append(try await part.body.collect(upTo: 1 << 20)) }
        return bodies
    }
}

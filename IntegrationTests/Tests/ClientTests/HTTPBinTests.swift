// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import ApiConnectorTraffic
import Foundation
import Servers
import Testing

/// A client of httpbin as a newcomer to the library would write it, over both transports.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: HTTPBin.isInstalled, "httpbin is missing: Scripts/setup httpbin")
)
struct HTTPBinTests {
    typealias Api = NetworkConnector<AnyProvider, HTTPBinRouter>

    private let server: HTTPBin
    private let environment: HTTPBinServer

    init() throws {
        server = try HTTPBin()
        environment = HTTPBinServer(port: Int(server.port))
    }

    private func api(_ provider: some DataRequestType = SystemProvider()) -> Api {
        Api(environment: environment, provider: AnyProvider(provider))
    }

    private var transports: [Api] { [api(), api(URLSessionProvider())] }

    @Test func sendsEachMethodWithItsBody() async throws {
        for api in transports {
            let got = try await api.value(Echo.self, at: .get(["q": "tea & café", "page": 2, "all": nil]))
            #expect(got.args["q"].string == "tea & café" && got.args["page"].string == "2")
            #expect(got.headers["User-Agent"] == "ApiConnector/0.1")
            for method in [HTTPMethod.post, .put, .patch, .delete] {
                let json = try await api.value(Echo.self, at: .sending(method, .json(["id": 1, "name": "tea"])))
                #expect(json.json?["name"].string == "tea" && json.json?["id"].int == 1)
            }
            let form = try await api.value(Echo.self, at: .sending(.post, .form(["a": "1 + 1"])))
            #expect(form.form?["a"].string == "1 + 1")
            let parts: [MultipartPart] = [
                .text("hello", name: "note"),
                .data(Data("bytes".utf8), name: "file", fileName: "tea.txt", mediaType: .plainText),
            ]
            let multipart = try await api.value(Echo.self, at: .sending(.post, .multipart(parts)))
            #expect(multipart.form?["note"].string == "hello" && multipart.files?["file"].string == "bytes")
        }
    }

    @Test func keepsAValueInItsSegmentAndSendsAnyMethod() async throws {
        for api in transports {
            for method in [HTTPMethod.get, .post, .put, .patch, .delete] {
                let echo = try await api.value(Echo.self, at: .anything(method, "tea / café?"))
                #expect(echo.method == method.rawValue)
                #expect(echo.url.contains("/anything/tea"))
            }
        }
    }

    @Test func tellsStatuses() async throws {
        for api in transports {
            for code in [200, 201, 204] { try await api.send(at: .status(code)) }
            for code in [400, 401, 403, 404, 406, 418, 429, 500, 502, 503] {
                let error = await #expect(throws: ApiConnectorError.self) {
                    try await api.send(at: .status(code, .put))
                }
                #expect(error?.kind == .unacceptableStatus)
                #expect(error?.response?.status.rawValue == code)
            }
        }
    }

    @Test func readsPagesTextsAndImages() async throws {
        for api in transports {
            #expect(try await api.string(at: .page("html")).contains("Herman Melville"))
            #expect(try await api.string(at: .page("encoding/utf8")).isEmpty == false)
            #expect(try await api.string(at: .page("robots.txt")).contains("Disallow: /deny"))
            #expect(try await api.string(at: .page("xml")).contains("<slideshow"))
            #expect(try await api.value(JSONValue.self, at: .page("json"))["slideshow"]["title"].string != nil)
            #expect(try await api.value([String: String].self, at: .uuid)["uuid"].flatMap(UUID.init) != nil)
            #expect(try await api.string(at: .base64("dGVhIGFuZCBjYWbDqQ==")) == "tea and café")
            for (type, beginning) in [("image/png", [0x89, 0x50]), ("image/jpeg", [0xFF, 0xD8])] {
                #expect(try await api.data(at: .image(type)).prefix(2) == Data(beginning.map { UInt8($0) }))
            }
        }
    }

    @Test func aPageOfHTMLInPlaceOfJSONIsNamed() async throws {
        let error = await #expect(throws: ApiConnectorError.self) {
            try await api().value(Echo.self, at: .page("html"))
        }
        #expect(error?.kind == .unacceptableMediaType)
    }

    @Test func readsCompressedBodies() async throws {
        for api in transports {
            for coding in ["gzip", "deflate"] {
                let value = try await api.value(JSONValue.self, at: .encoded(coding))
                #expect(value[coding == "gzip" ? "gzipped" : "deflated"].bool == true)
            }
        }
        #expect(try await api().value(JSONValue.self, at: .encoded("brotli"))["brotli"].bool == true)
    }

    @Test func signsIn() async throws {
        let basic = ApiCredential.basic(user: "ada", password: "s3cret")
        for transport in [AnyProvider(SystemProvider()), AnyProvider(URLSessionProvider())] {
            let signedIn = api(transport.authenticating(by: .fixed(basic)))
            #expect(try await signedIn.value(JSONValue.self, at: .basic("ada", "s3cret"))["user"].string == "ada")
            #expect(try await signedIn.value(JSONValue.self, at: .hidden("ada", "s3cret"))["user"].string == "ada")
            let withToken = api(transport.authenticating(by: .fixed(.bearer("t0ken"))))
            #expect(try await withToken.value(JSONValue.self, at: .bearer)["token"].string == "t0ken")
            for route in [HTTPBinRouter.basic("ada", "s3cret"), .bearer, .digest("ada", "s3cret")] {
                let error = await #expect(throws: ApiConnectorError.self) { try await api(transport).send(at: route) }
                #expect(error?.response?.status == 401)
            }
        }
    }

    @Test func followsRedirects() async throws {
        for api in transports {
            for kind in ["redirect", "relative-redirect", "absolute-redirect"] {
                let response = try await api.response(of: Echo.self, at: .redirect(kind, 3))
                #expect(response.url.path == "/get")
            }
            let kept = try await api.value(Echo.self, at: .redirect(to: "/anything/a", 307, .put))
            #expect(kept.method == "PUT")
            let changed = try await api.value(Echo.self, at: .redirect(to: "/anything/a", 303, .post))
            #expect(changed.method == "GET")
            let error = await #expect(throws: ApiConnectorError.self) {
                try await api.send(at: .redirect("redirect", 30))
            }
            #expect(error?.kind == .tooManyRedirects)
        }
    }

    @Test func keepsCookiesWhereItIsTold() async throws {
        var configuration = TransportConfiguration()
        configuration.cookies = .inMemory
        for provider in [
            AnyProvider(SystemProvider(configuration: configuration)),
            AnyProvider(URLSessionProvider(configuration: configuration)),
        ] {
            let api = api(provider)
            try await api.send(at: .setCookie("tea", "green"))
            #expect(try await api.value(JSONValue.self, at: .cookies)["cookies"]["tea"].string == "green")
        }
        for api in transports {
            try await api.send(at: .setCookie("tea", "green"))
            #expect(try await api.value(JSONValue.self, at: .cookies)["cookies"]["tea"].isNull)
        }
    }

    @Test func streamsLinesAndBytes() async throws {
        for api in transports {
            var ids: [Int?] = []
            for try await line in api.stream(of: JSONValue.self, at: .stream(20), as: .jsonLines) {
                ids.append(line["id"].int)
            }
            #expect(ids == Array(0..<20))
            let whole = try await api.data(at: .bytes(10_000, seed: 7))
            #expect(whole.count == 10_000)
            #expect(try await api.data(at: .streamBytes(10_000, seed: 7)).count == 10_000)
            #expect(try await api.data(at: .drip(50)) == Data(repeating: UInt8(ascii: "*"), count: 50))
        }
    }

    @Test func downloadsAFileAndARangeOfIt() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "httpbin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let alphabet = Data((0..<26).map { UInt8(ascii: "a") + UInt8($0) })
        for (number, api) in transports.enumerated() {
            let file = try await api.download(at: .range(26), to: folder.appending(path: "file-\(number)")).file()
            #expect(try Data(contentsOf: file.file) == alphabet)
            let part = try await api.response(
                at: .range(26),
                options: CallOptions(headers: ["Range": "bytes=2-4"], validation: .status(206..<207))
            )
            #expect(try await part.body.collect(upTo: 100) == alphabet[2...4])
        }
    }

    @Test func cachesByEntityTag() async throws {
        let cached = api(SystemProvider().caching(in: MemoryCacheStorage()))
        #expect(try await cached.response(of: Echo.self, at: .etag("v1")).cacheHit == nil)
        #expect(try await cached.response(of: Echo.self, at: .etag("v1")).cacheHit == .validated)
        #expect(try await cached.response(of: Echo.self, at: .cache(seconds: 60)).cacheHit == nil)
        #expect(try await cached.response(of: Echo.self, at: .cache(seconds: 60)).cacheHit == .fresh)
    }

    @Test func anAttemptHasALimit() async throws {
        for api in transports {
            let options = CallOptions(timeouts: Timeouts(attempt: .milliseconds(100)))
            let error = await #expect(throws: ApiConnectorError.self) {
                try await api.send(at: .delay(10), options: options)
            }
            #expect(error?.kind == .timedOut)
        }
    }

    @Test func compressesARequestBody() async throws {
        let text = String(repeating: "tea ", count: 2000)
        let echo = try await api(SystemProvider().compressingBodies())
            .value(Echo.self, at: .sending(.post, .text(text)))
        #expect(echo.headers["Content-Encoding"] == "gzip")
        #expect((Int(echo.headers["Content-Length"] ?? "") ?? .max) < 200)
    }

    @Test func readsResponseHeaders() async throws {
        for api in transports {
            let response = try await api.response(
                of: JSONValue.self,
                at: .responseHeaders(["X-Tea": "green", "X-Cup": 2])
            )
            #expect(response.headers["X-Tea"] == "green")
            #expect(response.headers["X-Cup"] == "2")
        }
    }
}
#endif

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The server quotes a secret that the request itself carried, where no name tells that it is one; no text of the
/// library shows it.
struct QuotedSecretTests {
    private static let secret = "sk-live-9f/\"Q+7 zqk\\Omega"

    /// Where the request carries the secret.
    enum Carrier: CaseIterable {
        case bearer, basicPassword, basicUser, header, ownHeader, cookie, quotedCookie, queryItem, password, user
        case jsonField, nestedJSONField, formField, multipartField, jsonPathlessCredential
    }

    /// How the server quotes it.
    enum Quotation: String, CaseIterable {
        case plain, percentEncoded, jsonEscaped, base64, entity
    }

    private enum Environment: String, ApiEnvironment {
        case test = "h"
    }

    private struct Route: ApiRouter {
        typealias EnvironmentType = Environment
        typealias EnvelopeType = JSONAPIEnvelope
        let path = "/p"
    }

    private struct Model: Decodable {
        let absent: Int
    }

    /// A request that carries the secret in one place, in the form that the place needs.
    private static func request(_ carrier: Carrier, _ secret: String = secret) throws -> ApiRequest {
        let encoded = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let text =
            switch carrier {
            case .queryItem: "http://h/p?access_token=\(encoded)"
            case .password: "http://ada:\(encoded)@h/p"
            case .user: "http://\(encoded):@h/p"
            default: "http://h/p"
            }
        var request = ApiRequest(url: try #require(URL(string: text)), method: .post)
        switch carrier {
        case .bearer: request.headers[.authorization] = "Bearer \(secret)"
        case .basicPassword:
            request.headers[.authorization] = "Basic \(Data("ada:\(secret)".utf8).base64EncodedString())"
        case .basicUser: request.headers[.authorization] = "Basic \(Data("\(secret):".utf8).base64EncodedString())"
        case .header: request.headers["X-Api-Key"] = secret
        case .cookie: request.headers[.cookie] = "a=b; id=\(encoded)"
        case .quotedCookie: request.headers[.cookie] = "id=\"\(encoded)\"; c=d"
        case .jsonField: request.body = .json(["password": secret])
        case .nestedJSONField: request.body = .json(["user": ["credentials": ["a": [secret]]]])
        case .formField: request.body = .form(["client_secret": secret])
        case .multipartField: request.body = .multipart([.text(secret, name: "client_secret")])
        case .jsonPathlessCredential: request.headers["X-Debug"] = "Authorization: Bearer \(encoded)"
        case .ownHeader, .queryItem, .password, .user: break
        }
        return request
    }

    private static func quote(_ quotation: Quotation, _ secret: String = secret) -> String {
        switch quotation {
        case .plain: secret
        case .percentEncoded: secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        case .jsonEscaped: String(JSONValue.string(secret).description.dropFirst().dropLast())
        case .base64: Data("x\(secret)y".utf8).base64EncodedString()
        case .entity: secret.replacing("\"", with: "&quot;")
        }
    }

    /// Parts of the secret in each form; no text may contain them.
    private static let traces = [
        "sk-live", "zqk", "Omega", "sk%2Dlive",
        String(Data("xsk-live-9f".utf8).base64EncodedString().dropFirst(4).prefix(8)),
    ]

    private static func texts(of error: ApiConnectorError) -> [String] {
        var dumped = ""
        dump(error, to: &dumped)
        return [
            error.description, error.localizedDescription, error.detail, "\(error)", String(reflecting: error), dumped,
            error.errorDescription ?? "", "\(error.request.map { "\($0) \($0.headers)" } ?? "")",
            "\(error.response.map { "\($0)" } ?? "")", "\(error.problem.map { "\($0)" } ?? "")",
            "\(error.earlierAttempts)", "\(error as NSError)",
        ]
    }

    private static func failure(_ body: () async throws -> Void) async throws -> ApiConnectorError {
        do {
            try await body()
        } catch {
            return try #require(error as? ApiConnectorError)
        }
        throw CancellationError()
    }

    private func expectNoTrace(in error: ApiConnectorError, sourceLocation: SourceLocation = #_sourceLocation) {
        let leak = Self.texts(of: error).first { text in Self.traces.contains { text.contains($0) } }
        #expect(leak == nil, sourceLocation: sourceLocation)
    }

    @Test(arguments: Carrier.allCases, Quotation.allCases)
    func isInNoTextOfAnError(carrier: Carrier, quotation: Quotation) async throws {
        let quoted = Self.quote(quotation)
        let request = try Self.request(carrier)
        let bodies: [(Data, MediaType)] = [
            (Data("Incorrect API key provided: \(quoted).".utf8), .plainText),
            (try JSONEncoder().encode(["note": "Not valid: \(quoted)"]), .json),
            (try JSONEncoder().encode(["title": "No: \(quoted)", "detail": quoted]), .problemJSON),
            (try JSONEncoder().encode(["errors": [["title": "No: \(quoted)"]]]), .json),
            (try JSONEncoder().encode([quoted: [1]]), .json),
        ]
        for (body, mediaType) in bodies {
            for status in [200, 401] as [HTTPStatus] {
                let transport = TestConnector { _ in
                    .data(
                        body,
                        status: status,
                        headers: ["Content-Type": mediaType.description, "X-Echo": "was \(quoted)"]
                    )
                }
                let provider = authenticated(transport, carrier)
                let api = NetworkConnector(environment: .test, provider: Bearing(provider, request), router: Route.self)
                let error = try await Self.failure { _ = try await api.value(Model.self, at: Route()) }
                expectNoTrace(in: error)
                // The decoder's path and what stood there hold the quotation.
                let typed = try await Self.failure { _ = try await api.value([String: Int].self, at: Route()) }
                expectNoTrace(in: typed)
            }
        }
        #expect(bodies.count == 5)
    }

    @Test(arguments: Carrier.allCases, Quotation.allCases)
    func isInNoTextOfATransportsErrorAndOfEarlierAttempts(carrier: Carrier, quotation: Quotation) async throws {
        let quoted = Self.quote(quotation)
        let request = try Self.request(carrier)
        let lines = Locked<[String]>([])
        let transport = TestConnector { request in
            if request.attempt == 1 { throw ApiConnectorError(.connectionLost, "it said \(quoted)") }
            throw URLError(.networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: "It said \(quoted)"])
        }
        let provider = authenticated(
            transport.retrying(RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero)),
            carrier
        )
        .observing(by: CallLog(from: .debug) { _, line in lines.withLock { $0.append(line) } })
        .observing(by: CallLog.curlOfFailedCalls { line in lines.withLock { $0.append(line) } })
        var put = request
        put.method = .put
        let error = try await Self.failure { [put] in _ = try await provider.response(for: put) }
        #expect(error.earlierAttempts.count == 1)
        expectNoTrace(in: error)
        let leak = lines.withLock { $0 }.first { line in Self.traces.contains { line.contains($0) } }
        #expect(leak == nil)
    }

    private func authenticated(_ provider: some DataRequestType, _ carrier: Carrier) -> AnyProvider {
        guard carrier == .ownHeader, let origin = URL(string: "http://h") else { return AnyProvider(provider) }
        return AnyProvider(
            provider.authenticating(by: .fixed(.apiKey(Self.secret, inHeader: "Shop")), for: .origins(origin))
        )
    }

    /// Sends one fixed request instead of the connection's request.
    private struct Bearing: DataRequestType {
        let provider: AnyProvider
        let request: ApiRequest

        init(_ provider: AnyProvider, _ request: ApiRequest) {
            self.provider = provider
            self.request = request
        }

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var sent = request
            (sent.url, sent.headers, sent.body) = (self.request.url, self.request.headers, self.request.body)
            return try await provider.response(for: sent)
        }
    }

    /// An error shows the first 80 characters of a record, which may end within the secret.
    @Test(arguments: [0, 55, 65, 70])
    func isInNoTextOfAStreamsError(before count: Int) async throws {
        let quoted = String(repeating: "x", count: count) + Self.quote(.jsonEscaped)
        let request = try Self.request(.bearer)
        let transport = TestConnector { _ in
            .data(Data("[1, \"\(quoted)\"]".utf8), headers: ["Content-Type": "application/json"])
        }
        let provider = Bearing(AnyProvider(transport), request)
        let api = NetworkConnector(environment: .test, provider: provider, router: Route.self)
        let error = try await Self.failure { for try await _ in api.stream(of: Int.self, at: Route()) {} }
        #expect(error.kind == .decodingFailed)
        expectNoTrace(in: error)
    }

    @Test func isNotShownInPartIfTheShownBodyEndsWithinIt() throws {
        let key = "zqkAlpha-0123456789-zqkOmega"
        var request = ApiRequest(url: try #require(URL(string: "http://h/p")))
        request.headers[.authorization] = "Bearer \(key)"
        let escaped = key.utf8.map { "\\u00\(String($0, radix: 16))" }.joined()
        for text in [key, escaped] {
            for start in 1024 - text.utf8.count...1024 {
                let body = Data((String(repeating: ".", count: start) + text).utf8)
                let response = ApiResponse(to: request, status: 401)
                let error = ApiConnectorError(.unacceptableStatus, "no", response: response, body: body)
                let shown = try #require(error.response?.bodyPrefix)
                try #require(!shown.contains("z") && !shown.contains("\\u00"), "\(start): \(shown.suffix(40))")
            }
        }
    }

    @Test func shortValuesAreReplacedOnlyAfterASecretName() throws {
        let cases: [(value: String, isReplaced: Bool)] = [
            ("a", false), ("de", false), ("12345", false), ("123456", false), ("secret", false), ("sesame", false),
            ("hunter2", true), ("pa$$wd", true), ("ab12c", false), ("12345678", true), ("accepted", true),
        ]
        for (value, isReplaced) in cases {
            var request = ApiRequest(url: try #require(URL(string: "http://h/p")))
            request.headers[.cookie] = "c=\(value)"
            let response = ApiResponse(to: request, status: 401)
            let body = Data("It was \(value) then".utf8)
            let error = ApiConnectorError(.unacceptableStatus, "no", response: response, body: body)
            let shown = isReplaced ? Redactor.replacement : value
            #expect(error.response?.bodyPrefix == "It was \(shown) then")
        }
    }

    @Test func theHostIsNotASecretEvenIfACookieContainsIt() throws {
        var request = ApiRequest(url: try #require(URL(string: "http://shop.example.com/p")))
        request.headers[.cookie] = "site=example.com; host=shop.example.com"
        let error = ApiConnectorError(.cannotConnect, "nobody listens at shop.example.com", request: request)
        #expect(
            error.description.hasPrefix("GET http://shop.example.com/p failed (cannotConnect): nobody listens at s")
        )
    }

    @Test func aRedactorOfTheRequestKnowsItsValues() throws {
        var request = ApiRequest(url: try #require(URL(string: "http://h/bot/zqk-Alpha-1")))
        request.headers["X-Api-Key"] = "zqk-Alpha-1"
        #expect(
            request.redactor(from: .standard).redact(text: "the key zqk-Alpha-1 is wrong")
                == "the key REDACTED is wrong"
        )
        #expect(request.curlCommand().contains("zqk") == false)
        #expect(RequestSummary(request).url == "http://h/bot/REDACTED")
        #expect(Redactor.standard.redact(text: "the key zqk-Alpha-1 is wrong") == "the key zqk-Alpha-1 is wrong")
    }

    #if Curl && os(Linux)
    @Test(arguments: [401, 403, 500] as [HTTPStatus])
    func isInNoTextOfACallOverASocket(status: HTTPStatus) async throws {
        let server = try LoopbackServer.responding { request in
            let key = request.header("Authorization")?.dropFirst(7) ?? ""
            let body = #"{"error":{"message":"Incorrect API key provided: \#(key)."}}"#
            return .json(body, status: status.rawValue)
        }
        defer { server.stop() }
        for provider in [AnyProvider(CurlProvider()), AnyProvider(URLSessionProvider())] {
            let bearing = provider.authenticating(by: .fixed(.bearer("sk-live-zqkOmega")))
            let api = NetworkConnector(
                environment: Place(host: LoopbackServer.host, port: server.port),
                provider: bearing,
                router: Endpoint<String>.self,
                configuration: .patient
            )
            let error = try await Self.failure { _ = try await api.value(Model.self, at: Endpoint(path: "/p")) }
            #expect(error.description.contains("Incorrect API key provided: REDACTED."))
            expectNoTrace(in: error)
        }
    }
    #endif
}

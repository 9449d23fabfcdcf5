// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// A secret is in one place of a request and of the response; no text of the library contains it.
struct PlantedSecretTests {
    static let headerNames = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token",
        "X-Csrf-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Access-Token", "X-Session-Id", "X-Client-Secret",
    ]
    static let fieldNames = [
        "access_token", "refreshToken", "ID-Token", "token", "api_key", "apikey", "client_secret", "password", "passwd",
        "pwd", "passphrase", "secret", "signature", "sig", "X-Amz-Signature", "X-Amz-Credential",
        "x-amz-security-token",
        "otp", "pin", "ssn", "card_number", "cvv", "session", "sessionid", "sid", "jwt", "assertion", "private_key",
        "credentials", "newPassword", "user[password]",
    ]

    @Test(arguments: headerNames, PlantedSecret.all)
    func isFoundInNoHeader(name: String, secret: PlantedSecret) async throws {
        for value in [secret.text, "Bearer \(secret.text)", "Basic \(secret.text)"] {
            var request = ApiRequest(url: try #require(URL(string: "http://h/")))
            request.headers.append(HTTPHeaders.Name(name), value)
            try await expectNoTrace(of: secret, request, echo: "\(name): \(value)\r\nAccept: x")
        }
    }

    @Test(arguments: PlantedSecret.all)
    func isFoundInNoCookie(secret: PlantedSecret) async throws {
        var request = ApiRequest(url: try #require(URL(string: "http://h/")))
        request.headers.append(.setCookie, "id=\(secret.text); Path=/")
        try await expectNoTrace(of: secret, request, echo: "Set-Cookie: id=\(secret.text)")
    }

    @Test(arguments: fieldNames + ["key", "code"], PlantedSecret.ofForms)
    func isFoundInNoQueryItem(name: String, secret: PlantedSecret) async throws {
        let texts = ["http://h/p?a=1&\(name)=\(secret.text)&b=2", "http://h/p#a=1&\(name)=\(secret.text)&b=2"]
        for text in texts {
            let request = ApiRequest(url: try #require(URL(string: text)))
            try await expectNoTrace(of: secret, request, echo: "(\(request.url.absoluteString))")
        }
    }

    @Test(arguments: fieldNames, PlantedSecret.all)
    func isFoundInNoJSONField(name: String, secret: PlantedSecret) async throws {
        let values = ["\"\(secret.inJSON)\"", "{\"a\":[\"\(secret.inJSON)\"]}", "[1,\"\(secret.inJSON)\",{}]"]
        for value in values {
            let json = "{\"a\":1,\"\(name)\" : \(value),\"b\":\"c\"}"
            let nested = String(decoding: try JSONEncoder().encode(["log": json]), as: UTF8.self)
            for text in [json, nested] {
                var request = ApiRequest(url: try #require(URL(string: "http://h/")), method: .post)
                request.body = .text(text, mediaType: .json)
                try await expectNoTrace(of: secret, request, echo: text)
            }
        }
    }

    @Test(arguments: fieldNames + ["key", "code"], PlantedSecret.ofForms)
    func isFoundInNoFormField(name: String, secret: PlantedSecret) async throws {
        let text = "a=1&\(name)=\(secret.text)&b=2"
        var request = ApiRequest(url: try #require(URL(string: "http://h/")), method: .post)
        request.body = .text(text, mediaType: .form)
        try await expectNoTrace(of: secret, request, echo: text)
    }

    @Test(arguments: PlantedSecret.ofUserInfo)
    func isFoundInNoUserInfo(secret: PlantedSecret) async throws {
        for userInfo in ["user:\(secret.text)", "\(secret.text):x", secret.text] {
            let text = "http://\(userInfo)@h:80/p?a=b"
            var request = ApiRequest(url: URL(string: text) ?? URL(fileURLWithPath: "/"))
            request.headers.append(.location, text)
            try await expectNoTrace(of: secret, request, echo: "failed to reach \(text), giving up")
        }
    }

    /// A model that no body here fits.
    private struct Model: Decodable {
        let absent: Int
    }

    private enum Environment: String, ApiEnvironment {
        case test = "h"
    }

    private struct Route: ApiRouter {
        typealias EnvironmentType = Environment
        let path = "/p"
    }

    /// Makes every text that the library makes of a request, and of an answer that echoes it.
    private func expectNoTrace(
        of secret: PlantedSecret,
        _ request: ApiRequest,
        echo: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var headers = request.headers
        headers.append("X-Echo", echo.replacing("\r\n", with: " "))
        let response = ApiResponse(to: request, status: 500, headers: headers)
        let words = [NSLocalizedDescriptionKey: "Could not do it: \(echo)"]
        let transportError = URLError(.cannotConnectToHost, userInfo: words)
        var errors = [
            ApiConnectorError(
                .unacceptableStatus,
                "the server answered 500",
                response: response,
                body: Data(echo.utf8)
            ),
            ApiConnectorError(.unacceptableStatus, "it answered", response: response, body: try #require(request.data)),
        ]
        let failing = TestConnector { _ in .failure(transportError) }
        errors.append(try #require(await failure { _ = try await failing.response(for: request) }))
        let echoing = TestConnector { [headers] _ in .data(Data(echo.utf8), headers: headers) }
        let connection = NetworkConnector(environment: .test, provider: echoing, router: Route.self)
        errors.append(try #require(await failure { _ = try await connection.value(Model.self, at: Route()) }))

        let summary = RequestSummary(request)
        var texts = [headers.description, request.curlCommand(), "\(summary) \(summary.headers)"]
        for error in errors {
            texts += [error.description, error.localizedDescription, error.detail, "\(error.kind)"]
            texts += [error.request.map { "\($0) \($0.headers)" } ?? "", error.response.map { "\($0)" } ?? ""]
        }
        #expect(texts.count == 27)
        let leaks = texts.filter { !secret.traces(in: $0).isEmpty }
        #expect(leaks.first == nil, sourceLocation: sourceLocation)
    }

    private func failure(_ body: () async throws -> Void) async -> ApiConnectorError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ApiConnectorError
        }
    }
}

extension ApiRequest {
    fileprivate var data: Data? { try? body.data() }
}

/// `print` and `dump` of the values themselves show no secret.
struct PrintedValueTests {
    private static let request: ApiRequest = {
        let url = URL(string: "http://user:hush@h/?token=hush&page=2") ?? URL(fileURLWithPath: "/")
        return ApiRequest(url: url, headers: ["Authorization": "Bearer hush"], body: .text("password=hush"))
    }()

    @Test func requestsAndResponsesPrintNoSecret() {
        let response = ApiResponse(to: Self.request, status: 200, headers: ["Set-Cookie": "a=hush"])
        #expect("\(Self.request)" == "GET http://REDACTED@h/?token=REDACTED&page=2")
        #expect("\(response)" == "200 OK from http://REDACTED@h/?token=REDACTED&page=2")
        for value in [Self.request, response, response.headers[0]] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value)".contains("hush"))
            #expect(!String(reflecting: value).contains("hush"))
            #expect(!dumped.contains("hush"))
        }
    }

    #if Curl && os(Linux)
    @Test func aTransportsConfigurationPrintsNoSecret() throws {
        var configuration = CurlConfiguration.patient
        configuration.proxy = .url(try #require(URL(string: "http://user:hush@proxy:3128/")))
        let file = URL(filePath: "/etc/client.pem")
        configuration.clientCertificate = .init(certificateFile: file, keyFile: file, password: "hush")
        #expect("\(configuration.proxy)" == "http://REDACTED@proxy:3128/")
        #expect(configuration.clientCertificate.map { "\($0)" } == "/etc/client.pem, /etc/client.pem, REDACTED")
        for value in [configuration, configuration.proxy, configuration.clientCertificate as Any] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value)".contains("hush"))
            #expect(!String(reflecting: value).contains("hush"))
            #expect(!dumped.contains("hush"))
        }
    }
    #endif
}

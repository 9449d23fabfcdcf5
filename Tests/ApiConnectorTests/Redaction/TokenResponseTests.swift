// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// The names in the response of a token endpoint are secret, even if no word tells.
struct TokenResponseTests {
    private struct Tokens: ApiModel {
        let access: String
        let refresh: String
        let expiry: Date
    }

    private struct Pair: ApiModel {
        enum Kind: String, Codable {
            case none
        }

        let access: Kind
        let refresh: Kind
    }

    private struct Odd: ApiModel {
        let a: Int
    }

    private static let bodies = [
        #"{"access":"hush-one","refresh":"hush-two","expiry":"soon"}"#,
        #"{"access":"hush-one","refresh":"hush-two"}"#,
        #"{"refresh":"hush-two","user":{"name":"ada"},"access":"hush-one","expiry":null}"#,
        #"{"expiry":5,"access":"hush-one","refresh":["hush-two"]}"#,
        #"{"data":{"access":"hush-one","refresh":"hush-two"}}"#,
        #"[{"access":"hush-one","refresh":"hush-two"}]"#,
    ]

    private func texts(_ error: ApiConnectorError) -> String {
        var dumped = ""
        dump(error, to: &dumped)
        return "\(error) \(error.detail) \(error.localizedDescription) \(dumped) \(error.response?.bodyPrefix ?? "")"
    }

    private func failure<Model: ApiModel>(
        of model: Model.Type,
        _ body: String,
        _ request: RequestBody = .empty,
        inRefresh isInRefresh: Bool = false
    ) async -> String {
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: TestConnector { _ in .data(Data(body.utf8), headers: [.contentType: "application/json"]) }
        )
        do throws(ApiConnectorError) {
            let route = Endpoint<ApiPath>(path: "/token", method: .post, body: request)
            if isInRefresh {
                _ = try await api.value(Model.self, at: route, options: CallOptions(isCredentialRefresh: true))
            } else {
                _ = try await api.value(Model.self, at: route)
            }
            return "no error"
        } catch {
            #expect(error.kind == .decodingFailed)
            return texts(error)
        }
    }

    /// A sign-in is not a refresh, and its body need not be a form of OAuth.
    @Test(arguments: bodies)
    func aFailureToDecodeAPairOfTokensShowsNone(_ body: String) async {
        for text in [await failure(of: Tokens.self, body), await failure(of: Pair.self, body)] {
            #expect(!text.contains("hush-one"), "\(text)")
            #expect(!text.contains("hush-two"), "\(text)")
            #expect(text.contains("REDACTED"))
        }
    }

    @Test(
        arguments: [
            #"{"a":"hush-one","b":"hush-two"}"#, #"{"result":"hush-one"}"#, #"{"list":["hush-one"]}"#, #""hush-one""#,
            #"["hush-one","hush-two"]"#, "hush-one", #"{"value":{"b":"hush-one"}}"#,
            "access_token=hush-one&scope=repo&token_type=bearer&refresh=hush-two",
        ] + bodies
    )
    func aResponseToARefreshOrAGrantShowsNoString(_ body: String) async {
        let form = RequestBody.form(["grant_type": "refresh_token", "refresh_token": "r1"])
        let texts = [
            await failure(of: Odd.self, body, form), await failure(of: Odd.self, body, inRefresh: true),
            await failure(of: Tokens.self, body, form), await failure(of: Tokens.self, body, inRefresh: true),
        ]
        for text in texts {
            #expect(!text.contains("hush"), "\(text)")
            #expect(text.contains("REDACTED"))
        }
    }

    @Test func aGrantMayBeAMultipartFormOrJSON() async {
        let bodies: [RequestBody] = [
            .multipart([.text("refresh_token", name: "grant_type")]),
            .data(Data(#"{"grantType":"refresh_token"}"#.utf8), mediaType: .json),
        ]
        for body in bodies {
            let text = await failure(of: Odd.self, #"{"a":"hush-one","b":"hush-two"}"#, body)
            #expect(!text.contains("hush"), "\(text)")
        }
        #expect(bodies.count == 2)
    }

    @Test func theRegistrationOfAClientIsNotAGrant() async {
        let body = RequestBody.data(Data(#"{"grant_types":["a"],"grantTypes":["b"]}"#.utf8), mediaType: .json)
        let text = await failure(of: Odd.self, #"{"a":"tea-one","b":"tea-two"}"#, body)
        #expect(text.contains("tea-one"), "\(text)")
    }

    @Test func aRefusedGrantShowsItsReason() async throws {
        let body = #"{"error":"invalid_grant","error_description":"The refresh token is too old","jti":"hush-one"}"#
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: TestConnector { _ in .data(Data(body.utf8), status: 400) }
        )
        let route = Endpoint<ApiPath>(path: "/token", method: .post, body: .form(["grant_type": "password"]))
        let error = await #expect(throws: ApiConnectorError.self) { _ = try await api.data(at: route) }
        let shown = try #require(error?.response?.bodyPrefix)
        #expect(
            shown == #"{"error":"invalid_grant","error_description":"The refresh token is too old","jti":"REDACTED"}"#
        )
    }

    @Test func aRefreshInJSONShowsNoTokenOfItsRequest() async throws {
        var request = ApiRequest(url: try #require(URL(string: "http://h/token")), method: .post)
        request.body = .data(Data(#"{"refresh":"hush-one","client_id":"app"}"#.utf8), mediaType: .json)
        #expect(request.curlCommand().contains("hush-one"))
        request.isCredentialRefresh = true
        #expect(!request.curlCommand().contains("hush-one"))
        #expect(request.curlCommand().contains("app"))
    }

    @Test(arguments: [
        (#"{"access":"read","level":"refresh"}"#, #"{"access":"read","level":"refresh"}"#),
        (#"{"refresh":30,"access":"read"}"#, #"{"refresh":30,"access":"read"}"#),
        (#"{"access":"a","token_type":"Bearer"}"#, #"{"access":"REDACTED","token_type":"Bearer"}"#),
        (#"{"expires_in":60,"refresh":"a"}"#, #"{"expires_in":60,"refresh":"REDACTED"}"#),
        (
            #"{"log":"{\"access\":\"a\",\"refresh\":\"b\"}"}"#,
            #"{"log":"{\"access\":\"REDACTED\",\"refresh\":\"REDACTED\"}"}"#
        ),
    ])
    func accessAndRefreshAreSecretTogether(_ text: String, _ expected: String) {
        #expect(Redactor.standard.redact(text: text) == expected)
    }
}

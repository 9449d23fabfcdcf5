// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

/// The credential fields of well-known services are secret in every use, and names that look alike are not.
struct CredentialFieldTests {
    private let secretNames = CredentialFields.secretNames
    private let harmlessNames = CredentialFields.harmlessNames

    /// Every field, with its own value.
    private func fields() throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (index, name) in secretNames.enumerated() { headers[HTTPHeaders.Name(name)] = "hush-\(index)-hush" }
        for (index, name) in harmlessNames.enumerated() { headers[HTTPHeaders.Name(name)] = "tea-\(index)-tea" }
        try #require(CredentialFields.secret.count >= 60 && harmlessNames.count >= 40)
        return headers
    }

    /// HTTP/2 writes all names in lower case.
    @Test func areSecretInEachCase() {
        for names in [secretNames, secretNames.map { $0.lowercased() }, secretNames.map { $0.uppercased() }] {
            #expect(names.filter { !Redactor.standard.isSecret(header: HTTPHeaders.Name($0)) } == [])
        }
        for names in [harmlessNames, harmlessNames.map { $0.lowercased() }, harmlessNames.map { $0.uppercased() }] {
            #expect(names.filter { Redactor.standard.isSecret(header: HTTPHeaders.Name($0)) } == [])
        }
    }

    @Test func doNotCrossOriginsOnARedirect() async throws {
        let all = try fields()
        let sent = try await ScriptedWeb.valuesAcrossOrigins(all)
        #expect(sent.count == 3)
        for (way, values) in sent.enumerated() {
            #expect(secretNames.filter { !values.own.contains(all[HTTPHeaders.Name($0)] ?? "") } == [], "way \(way)")
            #expect(secretNames.filter { values.other.contains(all[HTTPHeaders.Name($0)] ?? "") } == [], "way \(way)")
            #expect(
                harmlessNames.filter { !values.other.contains(all[HTTPHeaders.Name($0)] ?? "") } == [],
                "way \(way)"
            )
        }
    }

    @Test func areRedactedInEachText() async throws {
        let all = try fields()
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/a")), headers: all)
        let archive = ExchangeArchive()
        let provider = TestConnector { _ in .data(Data("{}".utf8), headers: all) }
        let response = try await provider.archived(in: archive).response(for: request)
        for try await _ in response.body {}
        let error = ApiConnectorError(.other, "failed", response: response, body: Data())
        var dumped = ""
        dump(request, to: &dumped)
        let lines = all.map { "\($0.name): \($0.value)" }.joined(separator: "\r\n")
        let json = try JSONEncoder().encode(
            Dictionary(all.map { ($0.name.rawValue, $0.value) }, uniquingKeysWith: { one, _ in one })
        )
        let texts: [(name: String, text: String, isOfNames: Bool)] = [
            ("HAR", String(decoding: try archive.har(), as: UTF8.self), false),
            ("description", all.description, false),
            ("cURL", request.curlCommand(), false),
            (
                "error",
                "\(error.request.map { "\($0.headers)" } ?? "") \(error.response.map { "\($0.headers)" } ?? "")", false
            ),
            ("dump", dumped, false),
            ("header lines", Redactor.standard.redact(text: lines), true),
            ("JSON", Redactor.standard.redact(body: String(decoding: json, as: UTF8.self), mediaType: .json), true),
        ]
        for (name, text, isOfNames) in texts {
            // In a text, a name without a hyphen is more often an ordinary word.
            let names = isOfNames ? secretNames.filter { $0.contains("-") } : secretNames
            #expect(names.filter { text.contains(all[HTTPHeaders.Name($0)] ?? "hush") } == [], "\(name)")
            guard name != "dump" else { continue }
            // In a text, a signature may be the field of a body.
            let harmless = isOfNames ? harmlessNames.filter { !$0.hasSuffix("Signature") } : harmlessNames
            #expect(harmless.filter { !text.contains(all[HTTPHeaders.Name($0)] ?? "") } == [], "\(name)")
        }
    }

    @Test func separateTheUsersOfACache() async throws {
        let world = CacheWorld()
        let api = world.api()
        var shared: [String] = []
        for (index, name) in secretNames.enumerated() {
            let path = ApiPath("/\(index)")
            for user in ["one", "two"] {
                world.says(user, "private, max-age=60")
                let text = await api.text(path, HTTPHeaders([name: user]))
                if text != user { shared.append(name) }
            }
        }
        #expect(shared == [])
        var separated: [String] = []
        for (index, name) in harmlessNames.enumerated() {
            let path = ApiPath("/harmless/\(index)")
            for value in ["one", "two"] {
                world.says("tea", "max-age=60")
                let text = await api.text(path, HTTPHeaders([name: value]))
                if value == "two", text != "tea, fresh" { separated.append(name) }
            }
        }
        #expect(separated == [])
    }

    @Test func stayInAStoredResponseOnlyIfTheyAreHarmless() async throws {
        let world = CacheWorld()
        world.answers { _ in
            .data(
                Data("tea".utf8),
                headers: ["Cache-Control": "max-age=60", "Content-Signature": "x5u=1", "X-Access-Code": "hush"]
            )
        }
        let api = world.api()
        for hit in [nil, CacheHit.fresh] {
            let response = try await api.response(at: Endpoint<ApiPath>(path: "/signed"))
            #expect(response.cacheHit == hit)
            #expect(response.headers["Content-Signature"] == "x5u=1")
            #expect(response.headers["X-Access-Code"] == (hit == nil ? "hush" : nil))
        }
    }

    @Test func areCredentialPartsOfARequest() throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/a")), headers: try fields())
        // "Api-Key" is in the list twice, and case does not matter.
        #expect(request.credentialParts.count == Set(secretNames.map { $0.lowercased() }).count)
    }

    @Test(arguments: [
        "access_token2", "access_token_v2", "accessTokenV2", "Token1", "token_1", "sig2", "pass1", "auth2", "cvv2",
        "userpwd", "userPwd", "userPass", "userPin", "sessionid", "accesstoken", "authcode", "key2", "pw", "dbCreds",
        "app_key", "appid", "application_key", "user_key", "serviceKey", "wskey", "consumer_key", "license",
        "access_keys", "appKeys", "csrf_tokens", "recovery_key", "backup_codes", "stream_key",
    ])
    func aQueryItemIsSecretInEachCase(_ name: String) throws {
        for name in [name, name.lowercased(), name.uppercased()] {
            #expect(Redactor.standard.isSecret(queryItem: name))
            let url = try #require(URL(string: "http://h/?a=1&\(name)=hush"))
            #expect(Redactor.standard.redact(url) == "http://h/?a=1&\(name)=REDACTED")
        }
    }

    @Test(arguments: [
        "page2", "version2", "max_tokens2", "statusId", "statusid", "newsId", "businessid", "scope1", "compass", "spin",
        "author2", "tokenizer2", "v2", "2", "keys", "filter[keys]", "keys2", "public_keys", "sort_keys", "max_tokens",
        "upstream_key", "codes", "hotkeys",
    ])
    func aQueryItemThatLooksAlikeIsNot(_ name: String) {
        #expect(!Redactor.standard.isSecret(queryItem: name))
    }

    @Test func aChallengeIsNotSecret() {
        #expect(!Redactor.standard.isSecret(header: .wwwAuthenticate))
        #expect(!Redactor.standard.isSecret(header: "Proxy-Authenticate"))
    }

    @Test func aFieldOfJSONWithTheLastWordOfAHeaderIsNotSecret() {
        let body = #"{"key":"a","sort_key":"b","sign":"c","ticket":"d","cst":"e","x_team":"f"}"#
        #expect(Redactor.standard.redact(body: body, mediaType: .json) == body)
    }
}

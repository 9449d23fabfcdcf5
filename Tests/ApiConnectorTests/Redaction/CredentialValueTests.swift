// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Foundation
import Testing

/// A value in the form of a credential is secret in every use, and under every name.
struct CredentialValueTests {
    /// Each value ends with a mark, so that each user has another one.
    private static let fields: [(name: String, value: String)] = [
        ("X-Up", "Bearer hush-"),
        ("X-Foo", "Basic dXNlcjpw"),
        ("X-Caller", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0."),
        ("X-Signed", "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=c0ffee"),
        ("Referer", "http://h/?a=1&token=hush"),
    ]

    /// Values that look alike.
    private static let harmless: [(name: String, value: String)] = [
        ("X-Note", "the Bearer token is missing"), ("X-Level", "basic: "), ("X-Origin", "http://h/?a=1"),
        ("Accept", "text/plain;q=0.5, application/json"), ("X-Trace", "00-4bf92f3577b34da6a3ce929d0e0e4736-01"),
        ("X-Course", "Basic Course-"), ("X-Sort", "session:desc"), ("baggage", "session=abc"),
        ("SOAPAction", "\"urn:session:login\""), ("X-Cursor", "eyJpZCI6MTIzLCJ0IjoxfQ"),
        ("Signature-Input", "sig1=(\"@method\" \"@authority\");created="),
    ]

    private func headers(_ fields: [(name: String, value: String)], _ mark: String = "a1") -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields { headers[HTTPHeaders.Name(field.name)] = field.value + mark }
        return headers
    }

    @Test func doesNotCrossOriginsOnARedirect() async throws {
        let sent = try await ScriptedWeb.valuesAcrossOrigins(headers(Self.fields + Self.harmless))
        #expect(sent.count == 3)
        for (way, values) in sent.enumerated() {
            for field in Self.fields {
                #expect(values.own.contains(field.value + "a1"), "\(field.name), way \(way)")
                #expect(!values.other.contains(field.value + "a1"), "\(field.name), way \(way)")
            }
            for field in Self.harmless {
                #expect(values.other.contains(field.value + "a1"), "\(field.name), way \(way)")
            }
        }
    }

    @Test func inAQueryDoesNotCrossOrigins() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try ScriptedWeb.hop(307, from: web.home, to: "\(web.away)/end")
        let provider = web.provider.rewriting {
            guard $0.isToOwnOrigin == false else { return }
            $0.url.append(queryItems: [
                URLQueryItem(name: "up", value: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"),
                URLQueryItem(name: "page", value: "2"),
            ])
        }
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: web.place, provider: provider)
        _ = try await api.data(at: url)
        let last = try #require(web.requests.last)
        #expect(last.url.hasSuffix("/end?page=2"), "\(last.url)")
    }

    @Test func separatesTheUsersOfACache() async throws {
        let world = CacheWorld()
        let api = world.api()
        for (index, field) in Self.fields.enumerated() {
            for user in ["a1", "b2"] {
                world.says(user, "private, max-age=60")
                let text = await api.text(ApiPath("/\(index)"), headers([field], user))
                #expect(text == user, "\(field.name)")
            }
        }
        for (index, field) in Self.harmless.enumerated() {
            world.says("tea", "max-age=60")
            _ = await api.text(ApiPath("/harmless/\(index)"), headers([field], "a1"))
            let text = await api.text(ApiPath("/harmless/\(index)"), headers([field], "b2"))
            #expect(text == "tea, fresh", "\(field.name)")
        }
    }

    @Test func isACredentialPartAndReplacedInTexts() throws {
        for field in Self.fields {
            let request = ApiRequest(url: try #require(URL(string: "http://h/a")), headers: headers([field]))
            #expect(!request.credentialParts.isEmpty, "\(field.name)")
            #expect(!"\(request.headers)".contains(field.value + "a1"), "\(field.name)")
        }
        for field in Self.harmless + [("If-Match", "\"token:123\"")] {
            let request = ApiRequest(url: try #require(URL(string: "http://h/a")), headers: headers([field]))
            #expect(request.credentialParts.isEmpty, "\(field.name)")
        }
        #expect(Self.fields.count == 5 && Self.harmless.count == 11)
    }

    /// The value of a common field is a credential, too.
    @Test(arguments: ["User-Agent", "Accept", "Via", "Origin"])
    func isACredentialUnderACommonName(_ name: String) throws {
        let request = ApiRequest(
            url: try #require(URL(string: "http://h/a")),
            headers: HTTPHeaders([name: "Bearer abc123"])
        )
        #expect(!request.credentialParts.isEmpty)
        #expect(!"\(request.headers)".contains("abc123"))
    }

    /// Servers accept them.
    @Test(arguments: ["Bearer  abc123", "Bearer\tabc123", "Bearer \t abc123", "Basic  dXNlcjpwYXNz"])
    func mayHaveSeveralBlanksOrATabAfterTheScheme(_ value: String) throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/a")), headers: ["X-Up": value])
        #expect(request.credentialParts == ["x-up:\(value)"])
    }

    @Test(arguments: [
        "up=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "up=Bearer+abc123def", "up=Bearer%20abc123def",
        "up=Basic%20dXNlcjpwYXNz", "up=Token%20token%3Dabc", "up=Bearer++abc123def", "up=Bearer%09abc123def",
        "up=+Bearer+abc123def+", "up=Basic%20%20dXNlcjpwYXNz", "up=Token%20%09token%3Dabc",
    ])
    func inAQueryIsACredentialPart(_ item: String) throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/?a=1&\(item)")))
        #expect(!request.credentialParts.isEmpty)
    }

    @Test(arguments: [
        "cursor=eyJpZCI6MTIzLCJ0IjoxfQ==", "filter=eyJzdGF0dXMiOiJvcGVuIn0", "q=basic+income", "q=Bearer+of+news",
        "plan=Basic+Monthly", "text=my+basic+needs", "sort=session:desc", "order=pin:asc", "q=token:abc", "q=token+2",
        "search=a%26code%3D5", "redirect_uri=http%3A%2F%2Fh%2F%3Fcode%3D1", "q=bearer++of++news", "plan=Basic++Monthly",
        "q=+", "q=bearer++",
    ])
    func aValueThatLooksAlikeIsNotACredentialPart(_ item: String) throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/?a=1&\(item)")))
        #expect(request.credentialParts.isEmpty)
    }
}

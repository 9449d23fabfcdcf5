// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Testing

/// A wrapper sees each hop of a call, but the fields that it sets go only to the connection's own origin.
struct WithheldCredentialTests {
    /// The place where a user's wrapper puts a secret in every request.
    enum Wrapping: CaseIterable {
        case authorization, cookie, proxyAuthorization, apiKey, queryItem, userInfo, allAtOnce

        func apply(to request: inout ApiRequest) {
            switch self {
            case .authorization: request.headers[.authorization] = "Bearer hush"
            case .cookie: request.headers.append(.cookie, "session=hush")
            case .proxyAuthorization: request.headers["Proxy-Authorization"] = "Basic hush"
            case .apiKey: request.headers.merge(["X-Api-Key": "hush"])
            // The first URL's whole query is the location.
            case .queryItem where request.url.path() != "/end": break
            case .queryItem: request.url.append(queryItems: [URLQueryItem(name: "api_key", value: "hush")])
            case .userInfo:
                var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
                parts?.password = "hush"
                parts?.user = "hush"
                if let url = parts?.url { request.url = url }
            case .allAtOnce:
                for other in Self.allCases where other != self { other.apply(to: &request) }
            }
        }
    }

    /// The requests that the servers get when the connection's own server redirects to a location.
    private func sent(
        _ wire: Wire,
        _ location: (ScriptedWeb) -> String,
        _ rewrite: @escaping @Sendable (inout ApiRequest) -> Void
    ) async throws -> [String] {
        let web = try ScriptedWeb(redirectingOver: wire)
        let url = try ScriptedWeb.hop(307, from: web.home, to: location(web))
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: web.place,
            provider: web.provider.rewriting { rewrite(&$0) },
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        _ = try await api.data(at: url)
        return web.requests.map { "\($0.url) \($0.headers.map { "\($0.name): \($0.value)" })" }
    }

    @Test(arguments: Wire.allCases, Wrapping.allCases)
    func aRedirectSendsNoSecretToAnotherOrigin(_ wire: Wire, _ wrapping: Wrapping) async throws {
        let requests = try await sent(wire) {
            "\($0.away)/end"
        } _: {
            wrapping.apply(to: &$0)
        }
        try #require(requests.count == 2)
        // A transport sends user info as a field, or not at all.
        if wrapping != .userInfo, wrapping != .queryItem { #expect(requests[0].contains("hush")) }
        #expect(!requests[1].contains("hush"), "\(requests[1])")
        #expect(requests[1].contains("/end"))
    }

    @Test func aSecretIsSentAgainToItsOwnOrigin() async throws {
        let requests = try await sent(.testConnector) { web in
            (try? ScriptedWeb.hop(307, from: web.away, to: "\(web.home)/end").absoluteString) ?? ""
        } _: {
            $0.headers[.authorization] = "Bearer hush"
        }
        #expect(requests.map { $0.contains("hush") } == [true, false, true])
    }

    @Test func aRedirectKeepsTheSecretsThatTheServerPutIntoItsTarget() async throws {
        // Foundation encodes the query again when an item is added.
        let signed = "/end?X-Amz-Signature=a%2Fb&token=t"
        let requests = try await sent(.testConnector) {
            $0.away + signed
        } _: {
            guard $0.isToOwnOrigin == false else { return }
            $0.url.append(queryItems: [
                URLQueryItem(name: "token", value: "hush"), URLQueryItem(name: "page", value: "2"),
            ])
        }
        let last = try #require(requests.last)
        #expect(last.hasPrefix("http://other.example.com:80/end?X-Amz-Signature=a/b&token=t&page=2 "))
    }

    @Test func aCredentialForAnOriginIsSentThere() async throws {
        let cdn = try #require(URL(string: "http://other.example.com"))
        for scope in [CredentialScope.connection(and: cdn), .origins(cdn), .connection] {
            let requests = try await sent(.testConnector) {
                "\($0.away)/end"
            } _: {
                $0.setCredentials(for: scope) { $0.headers[.authorization] = "Bearer hush" }
                // The secret goes to no other origin.
                $0.headers["X-Api-Key"] = $0.isToOwnOrigin == true ? nil : "secret"
            }
            let shown = requests.map { $0.contains("hush") }
            #expect(shown == [scope.admitsConnection, scope.admitsOther], "\(scope)")
            #expect(!requests.joined().contains("secret"))
        }
    }

    @Test func aCallToAnotherOriginSendsItsOwnSecrets() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: web.place,
            provider: web.provider.rewriting { $0.headers["X-Api-Key"] = "hush" }
        )
        let url = try #require(URL(string: "\(web.away)/end?token=mine"))
        _ = try await api.data(at: url, options: CallOptions(headers: [.authorization: "Bearer mine"]))
        let seen = try #require(web.requests.first)
        #expect(seen.header("Authorization") == "Bearer mine")
        #expect(seen.url.hasSuffix("?token=mine"))
        #expect(seen.header("X-Api-Key") == nil)
    }

    /// The outer wrapper moves the request, and the inner one knows nothing of that.
    @Test(arguments: [false, true])
    func aWrapperThatChangesTheHostSendsNoSecretOfTheOldHost(_ addsHeaders: Bool) async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let away = web.away
        let inner =
            addsHeaders
            ? AnyProvider(web.provider.addingHeaders([.authorization: "Bearer hush"]))
            : AnyProvider(web.provider.rewriting { $0.headers[.authorization] = "Bearer hush" })
        let provider = inner.rewriting { if let url = URL(string: "\(away)/end") { $0.url = url } }
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: web.place, provider: provider)
        _ = try await api.data(at: try #require(URL(string: "\(web.home)/end")))
        let seen = try #require(web.requests.first)
        #expect(seen.url.hasPrefix(away))
        #expect(seen.header("Authorization") == nil)
    }

    /// The inner wrapper moves the request, after the outer one has set a credential.
    @Test func aRequestMovedToAnotherHostLosesItsSecrets() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let away = web.away
        let moving = web.provider.rewriting { request in
            guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
                let other = URLComponents(string: away)
            else { return }
            (parts.scheme, parts.host, parts.port) = (other.scheme, other.host, other.port)
            if let url = parts.url { request.url = url }
        }
        let provider = moving.rewriting { request in
            request.headers[.authorization] = "Bearer hush"
            request.headers[.accept] = "text/plain"
        }
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: web.place, provider: provider)
        _ = try await api.data(at: try #require(URL(string: "\(web.home)/end?page=2&api_key=hush")))
        let seen = try #require(web.requests.first)
        #expect(seen.url == "\(away)/end?page=2")
        #expect(seen.header("Authorization") == nil)
        #expect(seen.header("Accept") == "text/plain")
    }

    /// A wrapper names a secret after it has set it.
    @Test func aSecretThatIsNamedAfterItWasSetStaysAtItsOrigin() async throws {
        let requests = try await sent(.testConnector) {
            "\($0.away)/end"
        } _: {
            $0.headers["X-Shop"] = "hush"
            if $0.url.path() == "/end" { $0.url.append(queryItems: [URLQueryItem(name: "shop", value: "hush")]) }
            $0.addSecretNames(headerNames: ["X-Shop"], queryItemNames: ["shop"])
        }
        try #require(requests.count == 2)
        #expect(requests[0].contains("hush"))
        #expect(!requests[1].contains("hush"), "\(requests[1])")
    }

    /// Sends each request to another host, which may see its credentials.
    private struct Moving<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let target: URL

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            guard let origin = HTTPOrigin(target),
                let moved = request.moved(to: origin, showingCredentialsTo: .connection(and: target))
            else { return try await wrapped.response(for: request) }
            return try await wrapped.response(for: moved)
        }
    }

    @Test func aHostInTheScopeCountsAsTheConnectionsOwn() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let inner = web.provider.authenticating(by: .fixed(.bearer("mine"))).rewriting { request in
            request.url.append(path: "deep")
            request.headers["X-Api-Key"] = "key"
        }
        let provider = Moving(wrapped: inner, target: try #require(URL(string: web.away)))
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: web.place, provider: provider)
        _ = try await api.data(at: try #require(URL(string: "\(web.home)/end")))
        let seen = try #require(web.requests.first)
        #expect(seen.url == "\(web.away.replacing(":80", with: ""))/end/deep")
        #expect(seen.header("Authorization") == "Bearer mine")
        #expect(seen.header("X-Api-Key") == "key")
    }

    /// It belongs to no connection, so the wrapper that moves it decides alone.
    @Test func aRequestMadeByHandThatIsMovedTakesNoSecretButTheScopes() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let mirror = try #require(URL(string: web.away))
        let provider = web.provider
            .rewriting { $0.headers[.cookie] = "session=hush" }
            .authenticating(by: .fixed(.bearer("mine")), for: .origins(mirror))
        let request = ApiRequest(url: try #require(URL(string: "\(web.home)/end")))
        let origin = try #require(HTTPOrigin(mirror))
        let moved = try #require(request.moved(to: origin))
        _ = try await provider.response(for: moved)
        let seen = try #require(web.requests.first)
        #expect(seen.header("Authorization") == "Bearer mine")
        #expect(seen.header("Cookie") == nil)
    }

    /// A policy may send the request anywhere.
    @Test func aRedirectPolicyThatChangesTheHostSendsNoSecretThere() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let away = web.away
        let policy = RedirectPolicy.ask { _, next in
            var next = next
            if let url = URL(string: "\(away)/end") { next.url = url }
            return .follow(next)
        }
        let byHand = RedirectPolicy.ask { _, next in
            .follow(ApiRequest(url: URL(string: "\(away)/end") ?? next.url))
        }
        for policy in [policy, byHand] {
            let api = NetworkConnector<_, Endpoint<ApiPath>>(
                environment: web.place,
                provider: web.provider.rewriting { $0.headers[.authorization] = "Bearer hush" },
                configuration: ConnectionConfiguration(timeouts: .unlimited, redirects: policy)
            )
            _ = try await api.data(at: try ScriptedWeb.hop(307, from: web.home, to: "\(web.home)/x"))
            let last = try #require(web.requests.last)
            #expect(last.url.hasPrefix(away))
            #expect(last.header("Authorization") == nil)
        }
    }

    @Test func aRequestMovedToAnotherHostLosesOnlyItsOldUserInfo() throws {
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: Place(), provider: TestConnector { _ in .never })
        var request = try api.request(at: Endpoint("/a"))
        request.url = try #require(URL(string: "http://ada:hush@api.example.com/a"))
        #expect(!request.withholdsCredentials)
        request.url = try #require(URL(string: "http://ada:hush@other/a#b?c"))
        #expect(request.url.absoluteString == "http://other/a#b?c")
        #expect(request.withholdsCredentials)
        request.url = try #require(URL(string: "http://bob:mine@third/a"))
        #expect(request.url.absoluteString == "http://bob:mine@third/a")
    }

    @Test func anAuthenticatedRequestToAnotherOriginTakesNoOtherSecret() async throws {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let mirror = try #require(URL(string: web.away))
        let provider = web.provider
            .rewriting { $0.headers["X-Api-Key"] = "hush" }
            .authenticating(by: .fixed(.bearer("mine")), for: .origins(mirror))
        let api = NetworkConnector<_, Endpoint<ApiPath>>(environment: web.place, provider: provider)
        _ = try await api.data(at: try #require(URL(string: "\(web.away)/end")))
        let seen = try #require(web.requests.first)
        #expect(seen.header("Authorization") == "Bearer mine")
        #expect(seen.header("X-Api-Key") == nil)
    }

    @Test func aHandmadeRequestSendsAnySecret() async {
        var request = ApiRequest(url: URL(filePath: "/"))
        request.headers[.authorization] = "Bearer hush"
        #expect(request.isToOwnOrigin == nil)
        #expect(request.headers.contains(.authorization))
        #expect(!request.setCredentials { $0.headers[.cookie] = "hush" })
        let isAuthorized = await request.authorize { $0.headers[.cookie] = "hush" }
        #expect(!isAuthorized)
        #expect(!request.headers.contains(.cookie))
    }
}

extension CredentialScope {
    fileprivate var text: String { String(describing: self) }
    fileprivate var admitsOther: Bool { text.contains("other.example.com") }
    fileprivate var admitsConnection: Bool { text.contains("includesConnection: true") }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let conduct: [Breakage] = [
        .whole(
            "follows redirects",
            caughtBy: [
                "delivers a redirect and does not follow it", "delivers the body of a redirect",
                "sends no request after a redirected POST", "delivers a redirect with any Location",
                "delivers the body of a redirect whose Location is not a URL",
            ]
        ) { request, provider in
            let response = try await provider.response(for: request)
            guard response.status.isRedirection, let location = response.headers["Location"],
                let url = URL(string: location, relativeTo: request.url)?.absoluteURL, url.host() == request.url.host(),
                url.port == request.url.port
            else { return response }
            return try await provider.response(for: ApiRequest(url: url))
        },
        .whole("sends a POST again", caughtBy: ["never retries a POST"]) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .connectionLost && request.method == .post {
                return try await provider.response(for: request)
            }
        },
        .whole("asks a busy server again", caughtBy: ["sends a request once, regardless of the status"]) {
            request,
            provider in
            let response = try await provider.response(for: request)
            return response.status == 503 ? try await provider.response(for: request) : response
        },
        .whole("signs in by itself", caughtBy: ["delivers a 401 of any scheme with its body"]) { request, provider in
            let response = try await provider.response(for: request)
            guard response.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true else { return response }
            var request = request
            request.headers["Authorization"] = "Basic YTpi"
            return try await provider.response(for: request)
        },
        Breakage(testDescription: "keeps cookies", caughtBy: ["sends the request's cookies and adds none"]) {
            let jar = Locked<String?>(nil)
            return AnyProvider(
                BrokenProvider($0) { request, provider in
                    var request = request
                    if !request.headers.contains("Cookie") { request.headers["Cookie"] = jar.withLock { $0 } }
                    let response = try await provider.response(for: request)
                    jar.withLock { $0 = response.headers["Set-Cookie"] ?? $0 }
                    return response
                }
            )
        },
        Breakage(
            testDescription: "keeps responses",
            caughtBy: ["never answers from a cache"]
        ) {
            let cache = Locked<[URL: ApiResponse]>([:])
            return AnyProvider(
                BrokenProvider($0) { request, provider in
                    if let kept = cache.withLock({ $0[request.url] }) { return kept }
                    let response = try await provider.response(for: request)
                    if response.headers["Cache-Control"]?.contains("max-age") == true {
                        cache.withLock { $0[request.url] = response }
                    }
                    return response
                }
            )
        },
        .request("never uses a connection again", caughtBy: "reuses a connection") {
            $0.headers["Connection"] = "close"
        },
        .whole(
            "calls a reset connection malformed",
            caughtBy: [
                "fails when the connection is closed before the head",
                "fails when the connection is reset before the head",
                "fails when the connection is closed inside the head", "fails when the body is shorter than its length",
                "fails when the body of a 500 is shorter than its length",
                "fails when the connection is reset inside the body", "fails when the last chunk is missing",
                "fails when a chunk ends before its length", "keeps secrets out of the error's text",
                "never retries a POST", "works after a failure",
            ]
        ) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .connectionLost {
                throw ApiConnectorError(.malformedResponse, error.detail, request: request)
            }
        },
        Breakage(
            testDescription: "forgets the request in a failure to understand",
            caughtBy: ["fails when a chunk's length is not a number", "fails when the response is not HTTP"]
        ) { AnyProvider(Forgetful(wrapped: $0)) },
    ]
}

private struct Forgetful: DataRequestType {
    let wrapped: AnyProvider

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do throws(ApiConnectorError) {
            return try await wrapped.response(for: request)
        } catch {
            if error.kind == .malformedResponse { throw ApiConnectorError(error.kind, error.detail) }
            throw error
        }
    }
}

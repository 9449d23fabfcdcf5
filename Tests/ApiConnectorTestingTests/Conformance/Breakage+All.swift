// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let all = requests + requestBodies + responses + conduct + streaming + cancelling

    private static let requests: [Breakage] = [
        .request("joins a repeated request field", caughtBy: "sends a repeated header field once for each value") {
            $0.headers = $0.headers.joined
        },
        .request(
            "keeps the last value of a repeated request field",
            caughtBy: "sends every value of a repeated header field, in order",
            "sends a repeated header field once for each value"
        ) { request in
            for field in request.headers { request.headers[field.name] = field.value }
        },
        .request("sorts the request's fields", caughtBy: "sends header fields in their order") {
            $0.headers = $0.headers.sorted
        },
        .request("leaves out a request field without a value", caughtBy: "sends a header field without a value") {
            request in
            for field in request.headers where field.value.isEmpty { request.headers.remove(field.name) }
        },
        .request(
            "cuts a long request field off",
            caughtBy: "sends a header field of 8,000 bytes whole"
        ) { request in
            for field in request.headers where field.value.utf8.count > 4_096 {
                request.headers[field.name] = String(field.value.prefix(4_096))
            }
        },
        .request(
            "sends what is left of fields that must not be sent",
            caughtBy: "refuses a header field with a line break and sends nothing",
            "refuses a header field whose name is no token and sends nothing"
        ) { request in
            var headers = HTTPHeaders()
            for field in request.headers { headers.append(field.name, field.value) }
            request.headers = headers
        },
        .request(
            "calls itself by a name of its own",
            caughtBy: "puts no field of its own beside one that the request has"
        ) {
            $0.headers["User-Agent"] = "broken/1"
        },
        .request(
            "knows the standard methods only",
            caughtBy: "sends a method of your own under its name",
            "refuses a method that is no token and sends nothing"
        ) { request in
            let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
            if !known.contains(request.method) { request.method = .get }
        },
        .request(
            "has no PATCH",
            caughtBy: "sends every method under its name",
            "sends a body with its type, whatever the method"
        ) {
            request in
            guard request.method == .patch else { return }
            request.method = .post
            request.body = .empty
        },
        .request("decodes the path", caughtBy: "sends path and query as they are encoded") {
            $0.url = $0.url.replacing("%2F", by: "/")
        },
        .request("takes a plus for a space", caughtBy: "sends path and query as they are encoded") {
            $0.url = $0.url.replacing("+", by: "%20")
        },
        .request("sends the fragment", caughtBy: "leaves the fragment at home") {
            $0.url = $0.url.replacing("#", by: "%23")
        },
        .request("cuts a long target off", caughtBy: "sends a target of 4,000 bytes whole") { request in
            request.url = URL(string: String(request.url.absoluteString.prefix(2_048))) ?? request.url
        },
    ]

    private static let requestBodies: [Breakage] = [
        .request("calls every body a form", caughtBy: "never calls a body a form that was not called one") { request in
            guard request.body.mediaType == .octetStream else { return }
            request.headers[.contentType] = "application/x-www-form-urlencoded"
        },
        .request("gives a type to no body", caughtBy: "gives no type to a body that there is not") { request in
            if request.body.isEmpty { request.headers[.contentType] = "application/octet-stream" }
        },
        .request("sends no body with DELETE", caughtBy: "sends a body with its type, whatever the method") { request in
            if request.method == .delete { request.body = .empty }
        },
        .request(
            "cuts a body off at 64 KiB",
            caughtBy: "sends bodies whole that just fill a buffer or just do not",
            "sends a body of 3 MB whole",
            "sends a file whole",
            "names the length of a body that it knows"
        ) { request in
            guard let byteCount = request.body.byteCount, byteCount > 65_536 else { return }
            let body = try await request.body.collect(upTo: .max)
            request.body = .data(body.prefix(65_536), mediaType: request.body.mediaType ?? .octetStream)
        },
        .request(
            "takes a body for text",
            caughtBy: "sends every value of a byte as it is",
            "sends bodies whole that just fill a buffer or just do not",
            "sends a body of 3 MB whole",
            "sends a file whole"
        ) { request in
            guard let type = request.body.mediaType, type == .octetStream, request.body.byteCount != nil else { return }
            let body = try await request.body.collect(upTo: .max)
            guard body.count != 4, body.contains(where: { $0 != 0 }) else { return }
            request.body = .text(String(decoding: body, as: UTF8.self), mediaType: type)
        },
        Breakage(
            testDescription: "reads a source to its end before it sends",
            caughtBy: [
                "sends a source's beginning before it has come to its end",
                "answers a cancel while a body's source has nothing, and lets go of it",
            ],
            hangs: true
        ) { provider in
            AnyProvider(
                provider.rewriting { request in
                    guard request.body.isStreamed, request.body.byteCount == nil else { return }
                    let body = request.body
                    request.body = .data(
                        try await body.collect(upTo: .max),
                        mediaType: body.mediaType ?? .octetStream
                    )
                }
            )
        },
        .whole(
            "calls what a source throws a lost connection",
            caughtBy: ["fails with what a source throws", "fails where the file is missing"]
        ) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .encodingFailed {
                throw ApiConnectorError(.connectionLost, "the body broke", request: request)
            }
        },
    ]

    private static let responses: [Breakage] = [
        .response(
            "joins a repeated response field",
            caughtBy: "keeps repeated header fields apart",
            "keeps repeated Set-Cookie fields apart"
        ) { $0.headers = $0.headers.joined },
        .response("sorts the response's fields", caughtBy: "delivers header fields in their order") {
            $0.headers = $0.headers.sorted
        },
        .response("leaves out a response field without a value", caughtBy: "delivers a header field without a value") {
            response in
            for field in response.headers where field.value.isEmpty { response.headers.remove(field.name) }
        },
        .response("takes a field for ISO 8859-1", caughtBy: "delivers a value in UTF-8") { response in
            for field in response.headers where field.value.utf8.contains(where: { $0 > 127 }) {
                response.headers[field.name] = String(data: Data(field.value.utf8), encoding: .isoLatin1)
            }
        },
        .response(
            "tells another URL",
            caughtBy: "delivers status, header fields, body and URL",
            "delivers a redirect and does not follow it"
        ) { $0.url = $0.url.deletingLastPathComponent() },
        .response("tells another request", caughtBy: "names the request that it answers") {
            $0.request = ApiRequest(url: $0.url)
        },
        .response(
            "rounds a status that it does not know",
            caughtBy: "delivers a status that nobody knows"
        ) { response in
            if [226, 299, 399, 499, 599].contains(response.status.rawValue) {
                response.status = HTTPStatus(rawValue: response.status.rawValue / 100 * 100)
            }
        },
        .response(
            "drops the body of a failure",
            caughtBy: "delivers every status as a response",
            "delivers a status that nobody knows",
            "delivers the body of a failure",
            "delivers a 401 of every scheme with its body",
            "sends a request once, whatever comes back"
        ) { response in
            if response.status.rawValue >= 400 { response.body = ResponseBody(Data()) }
        },
        .whole(
            "takes a status of failure for an error",
            caughtBy: [
                "delivers every status as a response", "delivers a status that nobody knows",
                "delivers the body of a failure", "delivers a 401 of every scheme with its body",
                "sends a request once, whatever comes back",
            ]
        ) { request, provider in
            let response = try await provider.response(for: request)
            guard response.status.rawValue >= 400 else { return response }
            throw ApiConnectorError(.unacceptableStatus, "the server failed", request: request)
        },
        .whole(
            "lets a body pass its limit",
            caughtBy: ["fails a body one byte over the limit", "fails chunks over the limit"]
        ) { request, provider in
            var request = request
            if case .collected(upTo: 5) = request.delivery { request.delivery = .collected(upTo: 6) }
            return try await provider.response(for: request)
        },
        .whole(
            "takes what came of a body for all of it",
            caughtBy: [
                "fails when the body is shorter than its length",
                "fails when the body of a failure is shorter than its length",
                "fails when the connection is reset inside the body",
                "fails when chunks end before the last",
                "fails when a chunk ends before its length",
                "goes on after a failure",
                "fails behind what has come of a body that is lost",
            ]
        ) { request, provider in
            guard case .collected(upTo: let limit) = request.delivery, limit > 1_000_000 else {
                return try await provider.response(for: request).endingEarly(at: request)
            }
            var streamed = request
            streamed.delivery = .streamed
            var response = try await provider.response(for: streamed).endingEarly(at: streamed)
            do {
                response.body = ResponseBody(try await response.body.collect(upTo: limit))
            } catch let error as ApiConnectorError {
                throw ApiConnectorError(error.kind, error.detail, request: request)
            }
            return response
        },
    ]

    private static let conduct: [Breakage] = [
        .whole(
            "follows redirects",
            caughtBy: [
                "delivers a redirect and does not follow it", "delivers the body of a redirect",
                "asks nothing after a redirected POST", "delivers a redirect whatever its location is",
                "delivers the body of a redirect whose location is no URL",
            ]
        ) { request, provider in
            let response = try await provider.response(for: request)
            guard response.status.isRedirection, let location = response.headers["Location"],
                let url = URL(string: location, relativeTo: request.url)?.absoluteURL, url.host() == request.url.host(),
                url.port == request.url.port
            else { return response }
            return try await provider.response(for: ApiRequest(url: url))
        },
        .whole("sends a POST again", caughtBy: ["never sends a POST again by itself"]) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .connectionLost && request.method == .post {
                return try await provider.response(for: request)
            }
        },
        .whole("asks a busy server again", caughtBy: ["sends a request once, whatever comes back"]) {
            request,
            provider in
            let response = try await provider.response(for: request)
            return response.status == 503 ? try await provider.response(for: request) : response
        },
        .whole("signs in by itself", caughtBy: ["delivers a 401 of every scheme with its body"]) { request, provider in
            let response = try await provider.response(for: request)
            guard response.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true else { return response }
            var request = request
            request.headers["Authorization"] = "Basic YTpi"
            return try await provider.response(for: request)
        },
        Breakage(testDescription: "keeps cookies", caughtBy: ["sends cookies that it is given, and none by itself"]) {
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
        Breakage(testDescription: "keeps responses", caughtBy: ["asks anew each time, whatever might be kept"]) {
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
        .request("never uses a connection again", caughtBy: "uses a connection again") {
            $0.headers["Connection"] = "close"
        },
        .whole("shows the URL in an error", caughtBy: ["keeps secrets out of the error's text"]) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError {
                let detail = "\(error.detail): \(request.url.absoluteString.replacing("?token=", with: " with "))"
                throw ApiConnectorError(error.kind, detail, request: request, underlying: error.underlying)
            }
        },
        .whole(
            "calls a reset connection malformed",
            caughtBy: [
                "fails when the connection is closed before the head",
                "fails when the connection is reset before the head",
                "fails when the connection is closed inside the head", "fails when the body is shorter than its length",
                "fails when the body of a failure is shorter than its length",
                "fails when the connection is reset inside the body", "fails when chunks end before the last",
                "fails when a chunk ends before its length", "keeps secrets out of the error's text",
                "never sends a POST again by itself", "goes on after a failure",
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
            caughtBy: ["fails when a chunk's length is none", "fails when the answer is no HTTP"]
        ) { AnyProvider(Forgetful(wrapped: $0)) },
    ]
}

extension HTTPHeaders {
    /// Each name once, its values joined.
    fileprivate var joined: HTTPHeaders {
        var joined = self
        for field in self { joined[field.name] = values(field.name).joined(separator: ", ") }
        return joined
    }

    fileprivate var sorted: HTTPHeaders {
        var sorted = HTTPHeaders()
        let places = enumerated().sorted { one, other in
            let names = (one.element.name.rawValue, other.element.name.rawValue)
            return names.0 == names.1 ? one.offset < other.offset : names.0 < names.1
        }
        for (_, field) in places { sorted.append(field.name, field.value) }
        for field in refused { sorted.append(field.name, field.value) }
        return sorted
    }
}

extension URL {
    fileprivate func replacing(_ text: String, by other: String) -> URL {
        URL(string: absoluteString.replacingOccurrences(of: text, with: other)) ?? self
    }
}

extension ApiResponse {
    /// The same, where it is streamed, with a body that ends where it is lost.
    fileprivate func endingEarly(at request: ApiRequest) -> ApiResponse {
        guard request.delivery == .streamed else { return self }
        var response = self
        response.body = body.pulled { (pull) async throws(ApiConnectorError) -> Data? in
            do throws(ApiConnectorError) {
                return try await pull()
            } catch {
                if error.kind == .connectionLost { return nil }
                throw error
            }
        }
        return response
    }
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

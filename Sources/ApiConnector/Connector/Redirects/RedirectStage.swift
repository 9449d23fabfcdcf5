// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Follows redirects; each hop is its own request through all providers.
struct RedirectStage: Sendable {
    private let settings: CallSettings

    init(_ settings: CallSettings) {
        self.settings = settings
    }

    private var provider: any DataRequestType { settings.provider }

    private var policy: RedirectPolicy { settings.configuration.redirects }

    /// - Parameter request: The request to send; after redirects, the last request sent.
    @inline(__always)
    func response(for request: inout ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let response = try await hop(request)
        guard isRedirect(response), let decide = policy.decide else { return response }
        return try await follow(response, to: &request, decide)
    }

    /// Sends one request through all providers.
    @inline(__always)
    private func hop(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkNotOver()
        return try await provider.response(for: request).watched(as: request)
    }

    /// Follows a redirect and all redirects after it.
    private func follow(
        _ response: ApiResponse,
        to request: inout ApiRequest,
        _ decide: @Sendable (ApiResponse, ApiRequest) async -> RedirectPolicy.Decision
    ) async throws(ApiConnectorError) -> ApiResponse {
        var response = response
        var history = RedirectHistory(request)
        while isRedirect(response) {
            let next = try nextRequest(after: response, to: request)
            switch await decide(response, next) {
            case .deliver:
                return response
            case .refuse:
                throw .redirectRefused(
                    "the redirect to \(response.request.redactor.redact(next.url)) was refused",
                    response
                )
            case .follow(let chosen):
                try history.add(chosen, limit: policy.limit, after: response)
                response.discardBody()
                response.request.report(.redirected(to: response.request.textRedactor.redact(chosen.url)))
                request = adding(request, to: chosen)
                request.keepAttempts(of: next)
                response = try await hop(request)
            }
        }
        return response
    }

    private func isRedirect(_ response: ApiResponse) -> Bool {
        switch response.status.rawValue {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The request that follows a redirect (RFC 9110, section 15.4).
    ///
    /// - After a 303, and after a 301 or 302 to a POST, the next request is a GET without a body, as in browsers. A
    ///   HEAD stays a HEAD.
    /// - After every other redirect, the method and the body stay the same.
    /// - If the origin changes, header fields that are for one origin only are removed.
    private func nextRequest(
        after response: ApiResponse,
        to request: ApiRequest
    ) throws(ApiConnectorError) -> ApiRequest {
        func refused(_ detail: String) -> ApiConnectorError {
            .redirectRefused("the server answered \(response.status) \(detail)", response)
        }
        guard let location = response.headers[.location], !location.isEmpty else {
            throw refused("without a Location")
        }
        let shown = response.request.redactor.redact(body: location)
        guard let target = Self.target(of: location, from: response.url), let origin = HTTPOrigin(target) else {
            throw refused("with the location \"\(shown)\", which is not an http or https URL")
        }
        if HTTPOrigin(request.url)?.scheme == .https, origin.scheme != .https, !policy.allowsInsecure {
            throw refused("with the location \"\(shown)\", which is not encrypted")
        }
        var next = request
        next.point(to: target)
        // The location may repeat secrets of the earlier request.
        next.add(response.request.ownSecrets)
        let status = response.status.rawValue
        if status == 303 && request.method != .head || status < 303 && request.method == .post {
            next.method = .get
            next.body = .empty
            for name in HTTPHeaders.Name.fieldsOfABody { next.headers.remove(name) }
            next.keepAttempts(of: response.request)
        } else if !request.body.isReplayable {
            let detail = "the server answered \(response.status), and the body cannot be sent a second time"
            throw ApiConnectorError(.notReplayable, detail, response: response, body: Data())
        } else {
            next.keepKeyAndAttempts(of: response.request)
        }
        if origin != HTTPOrigin(request.url) {
            next.headers.remove(.host)
            next.headers.removeSecrets(known: next.redactor)
        }
        next.withholdCredentialsIfForeign()
        return next
    }

    /// Resolves a location (RFC 3986).
    ///
    /// A location without a fragment gets the fragment of the redirected URL (RFC 9110, section 10.2.2).
    private static func target(of location: String, from base: URL) -> URL? {
        guard let target = URLReference.target(of: location, from: base) else { return nil }
        guard let fragment = base.fragment(percentEncoded: true), target.fragment == nil else { return target }
        return URL(string: "\(target.absoluteString)#\(fragment)")
    }

    /// Adds the call's time limits and context to a request, because a request that a policy created lacks them.
    private func adding(_ call: ApiRequest, to chosen: ApiRequest) -> ApiRequest {
        var request = chosen
        request.use(RequestSettings(call.timers, chosen.limits ?? call.limits, chosen.coders))
        request.deadline = chosen.deadline ?? call.deadline
        if chosen.context?.environment == nil {
            request.joinCall(of: call)
            request.values = call.values
            request.delivery = call.delivery
            request.add(call.ownSecrets)
        }
        if !request.withholdsCredentials { request.withholdCredentialsIfForeign() }
        return request
    }
}

/// The requests of a call, for detecting redirect loops.
///
/// When a response sets a cookie, the earlier requests are forgotten, because the same request may then get another
/// response.
private struct RedirectHistory {
    private var seen: Set<RequestTarget>
    private var count = 0

    init(_ request: ApiRequest) {
        seen = [RequestTarget(request)]
    }

    mutating func add(_ request: ApiRequest, limit: Int, after response: ApiResponse) throws(ApiConnectorError) {
        count += 1
        if response.headers.contains(.setCookie) { seen = [] }
        if !seen.insert(RequestTarget(request)).inserted {
            let url = response.request.redactor.redact(request.url)
            throw Self.tooMany("the redirects form a loop: they led back to \(url)", response)
        }
        if count > limit { throw Self.tooMany("there were more than \(limit) redirects", response) }
    }

    private static func tooMany(_ detail: String, _ response: ApiResponse) -> ApiConnectorError {
        ApiConnectorError(.tooManyRedirects, detail, response: response, body: response.body.collected ?? Data())
    }
}

extension HTTPHeaders.Name {
    /// The header fields that a request without a body cannot have.
    static var fieldsOfABody: [Self] {
        [
            .contentType, .contentLength, .contentEncoding, "Content-Language", "Content-Location", "Content-Digest",
            "Repr-Digest", "Digest", "Last-Modified", "Transfer-Encoding", "Trailer", "Expect",
        ]
    }
}

extension ApiConnectorError {
    fileprivate static func redirectRefused(_ detail: String, _ response: ApiResponse) -> ApiConnectorError {
        ApiConnectorError(.redirectRefused, detail, response: response, body: response.body.collected ?? Data())
    }
}

/// The resource that a request asks for: two requests with equal targets ask for the same resource.
struct RequestTarget: Hashable {
    private let method: HTTPMethod
    let origin: HTTPOrigin?
    private let path: String
    private let query: String?

    init(_ request: ApiRequest) {
        method = request.method
        origin = HTTPOrigin(request.url)
        path = request.url.path(percentEncoded: true)
        query = request.url.query(percentEncoded: true)
    }
}

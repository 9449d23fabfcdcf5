// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider with a private cache; made by ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
struct Cached<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let cache: ResponseCache

    init(_ wrapped: Wrapped, _ cache: ResponseCache) {
        self.wrapped = wrapped
        self.cache = cache
    }

    /// Answers a request from the cache, or sends it and stores the response.
    ///
    /// - Throws: The error of the wrapped provider; kind `.notCached` if the call accepts only a stored response and
    ///   there is none.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        if request.isCredentialRefresh { return try await wrapped.response(for: request) }
        guard CacheRules.concerns(request), let place = cache.place(of: request) else {
            if request.cacheUse == .cached, !request.values[IsSentIfUncacheable.self] { throw .notCached(request) }
            return try await pass(request)
        }
        let stored = try await cache.stored(for: request, at: place)
        let decision = CacheRules.decide(on: request, stored: stored, at: request.timeSource.date)
        switch (decision, stored) {
        case (.serve(let hit), let stored?):
            return answer(request, with: stored, hit)
        case (.serveAndRenew, let stored?):
            renew(stored, by: request, at: place)
            return answer(request, with: stored, .stale)
        case (.refuse, _):
            throw .notCached(request)
        case (_, let stored):
            return try await fetch(request, at: place, knowing: stored)
        }
    }

    /// Sends a request that bypasses the cache, and invalidates stored responses if needed.
    private func pass(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let host = request.headers[.host]
        do throws(ApiConnectorError) {
            let response = try await wrapped.response(for: request)
            let answer = (response.status, response.headers)
            cache.invalidate(CacheRules.invalidated(by: request, answered: answer), host: host)
            return response
        } catch {
            cache.invalidate(CacheRules.invalidated(by: request, answered: nil), host: host)
            throw error
        }
    }

    /// Sends a request, as a conditional request if the stored response has a validator.
    private func fetch(
        _ request: ApiRequest,
        at place: ResponseCache.Place,
        knowing stored: StoredResponse?
    ) async throws(ApiConnectorError) -> ApiResponse {
        let outgoing = request.insistingOnServer
        let sent = request.timeSource.date
        let conditional = stored.flatMap { request.method == .get ? CacheRules.conditional(outgoing, on: $0) : nil }
        let response: ApiResponse
        do throws(ApiConnectorError) {
            response = try await wrapped.response(for: conditional ?? outgoing).collectedIfWanted(by: request)
        } catch {
            guard let stored, CacheRules.failureKinds.contains(error.kind),
                CacheRules.mayServeStale(stored, to: request, at: request.timeSource.date)
            else { throw error }
            return answer(request, with: stored, .stale)
        }
        guard let stored else {
            cache.keep(response, to: request, at: place, replacing: nil, sent: sent)
            return response
        }
        if CacheRules.failureStatuses.contains(response.status),
            CacheRules.mayServeStale(stored, to: request, at: request.timeSource.date)
        {
            response.discardBody()
            return answer(request, with: stored, .stale)
        }
        if conditional != nil, response.status == 304 {
            return try await validated(request, at: place, stored, by: response, sent: sent)
        }
        if request.method == .get {
            cache.keep(response, to: request, at: place, replacing: stored, sent: sent)
        } else if response.status == 200, CacheRules.contradicts(response.headers, stored) {
            cache.remove(stored, at: place)
        }
        return response
    }

    /// Answers with the stored response that the server has confirmed.
    ///
    /// If the 304 is about another response, the request is sent again without a condition.
    private func validated(
        _ request: ApiRequest,
        at place: ResponseCache.Place,
        _ stored: StoredResponse,
        by response: ApiResponse,
        sent: Date
    ) async throws(ApiConnectorError) -> ApiResponse {
        guard CacheRules.confirms(response.headers, stored) else {
            cache.remove(stored, at: place)
            return try await fetch(request, at: place, knowing: nil)
        }
        let redactor = response.request.nameRedactor
        let updated = CacheRules.updated(
            stored,
            by: response.headers,
            requestDate: sent,
            responseDate: request.timeSource.date,
            redactor: redactor
        )
        cache.keep(updated, to: request, confirmedBy: response, at: place, replacing: stored)
        var answer = answer(request, with: updated, .validated)
        // This caller also gets the fields that are never stored, such as cookies.
        for field in response.headers where !CacheRules.isKept(field.name, of: response.headers, redactor) {
            answer.headers.append(field.name, field.value)
        }
        return answer
    }

    /// Revalidates a stale response that was already served.
    ///
    /// Each place in the cache has at most one renewal at a time, which runs in its own task.
    private func renew(
        _ stored: StoredResponse,
        by request: ApiRequest,
        at place: ResponseCache.Place
    ) {
        guard cache.beginRenewal(at: place) else { return }
        var request = request.detached(reportingEvents: false)
        request.deadline = nil
        // A response to HEAD is renewed by GET.
        request.method = .get
        request.delivery = .collected(upTo: cache.maximumBodyByteCount)
        // No caller waits for the renewal, so only a timeout can end it early.
        request.timeouts.attempt = request.timeouts.attempt ?? .seconds(60)
        Task { [self, request] in
            defer { cache.endRenewal(at: place) }
            // Another renewal may have ended since the stored response was read.
            guard (try? await cache.stored(for: request, at: place)) == stored else { return }
            _ = try? await fetch(request, at: place, knowing: stored)
        }
    }

    private func answer(_ request: ApiRequest, with stored: StoredResponse, _ hit: CacheHit) -> ApiResponse {
        var response = ApiResponse(to: request, status: stored.status, headers: stored.headers)
        if hit != .validated {
            // RFC 9111, section 5.1, requires the field.
            response.headers["Age"] = CacheFreshness(of: stored, at: request.timeSource.date).ageField
        }
        // A copy of the bytes, because the stored body is a slice of a record.
        if !response.forbidsBody { response.body = ResponseBody(Data(stored.body)) }
        response.cacheHit = hit
        request.report(.servedFromCache(hit))
        return response
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped with a private cache that follows RFC 9111 and RFC 5861.
    ///
    /// ## Stored responses
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying().caching(in: MemoryCacheStorage())
    /// ```
    ///
    /// The cache stores the responses to GET that the server allows it to store. It does not store streamed bodies.
    ///
    /// ## Requests with credentials
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying().caching(in: MemoryCacheStorage()).authenticating(by: session)
    /// ```
    ///
    /// Put the cache inside the provider that adds credentials, as here. If an inner provider adds a credential, the
    /// response is not stored.
    ///
    /// A request has a credential if it has user info, a header field or query item that
    /// ``/ApiConnector/Redactor/standard`` knows, or a credential that an outer provider has added. For such a request:
    ///
    /// - A stored response answers only a request with the same credential.
    /// - A response is stored only if its `Cache-Control` has `private`, `public`, `must-revalidate` or `s-maxage`.
    ///
    /// Besides the storage, the cache keeps the URLs that were requested last, up to 256 KiB, and the parsed header
    /// fields of their responses, up to 1 MiB. It keeps no bodies, and no URLs with secrets.
    ///
    /// For details, see the guide <doc:Caching>.
    ///
    /// - Parameters:
    ///   - storage: The storage for responses: ``MemoryCacheStorage``, ``DiskCacheStorage`` or your own.
    ///   - maximumBodyByteCount: The maximum total size of the bodies for one URL; 4 MiB by default.
    public func caching(
        in storage: some CacheStorage,
        maximumBodyByteCount: Int = 4 * 1024 * 1024
    ) -> some DataRequestType {
        Cached(self, ResponseCache(storage, maximumBodyByteCount: maximumBodyByteCount))
    }
}

extension ApiRequest {
    /// The request for the server: a reload also bypasses other caches on the way.
    fileprivate var insistingOnServer: ApiRequest {
        guard cacheUse == .reload, !headers.contains(.cacheControl) else { return self }
        var request = self
        request.headers[.cacheControl] = "no-cache"
        return request
    }
}

extension ApiConnectorError {
    fileprivate static func notCached(_ request: ApiRequest) -> ApiConnectorError {
        let detail = "the call accepts only a cached response, and the cache has no usable one"
        return ApiConnectorError(.notCached, detail, request: request)
    }
}

extension ApiRequest {
    /// A redactor that knows the names of the request's secrets, not their values.
    var nameRedactor: Redactor { redactor(from: .standard, includingValues: false) }
}

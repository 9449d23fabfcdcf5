// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that answers from a cache where it may; made by
/// ``ApiConnector/DataRequestType/caching(in:maximumBodyByteCount:)``.
struct Cached<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let cache: ResponseCache

    init(_ wrapped: Wrapped, _ cache: ResponseCache) {
        self.wrapped = wrapped
        self.cache = cache
    }

    /// Answers a request from the cache, or sends it and stores what comes.
    ///
    /// - Throws: What the wrapped provider throws; of kind `.notCached` where the call wants what is stored and there
    ///   is nothing.
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

    /// Sends a request that no cache has a part in; it may change what is stored.
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

    /// Asks the server, on the condition that it has something else than what is stored, where it can be asked that.
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

    /// Answers with what the server has confirmed; where it speaks of something else, it is asked again for all of
    /// it.
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
        // What is never stored is for this caller all the same, such as a cookie.
        for field in response.headers where !CacheRules.isKept(field.name, of: response.headers, redactor) {
            answer.headers.append(field.name, field.value)
        }
        return answer
    }

    /// Asks for a response again that was served already, in its own task, one at a time for each place.
    private func renew(
        _ stored: StoredResponse,
        by request: ApiRequest,
        at place: ResponseCache.Place
    ) {
        guard cache.beginRenewal(at: place) else { return }
        var request = request.detached(reportingEvents: false)
        request.deadline = nil
        // One that was asked for by HEAD is renewed whole.
        request.method = .get
        request.delivery = .collected(upTo: cache.maximumBodyByteCount)
        // Nobody waits for it, and so nobody ends it.
        request.timeouts.attempt = request.timeouts.attempt ?? .seconds(60)
        Task { [self, request] in
            defer { cache.endRenewal(at: place) }
            // A renewal may have ended since that was read.
            guard (try? await cache.stored(for: request, at: place)) == stored else { return }
            _ = try? await fetch(request, at: place, knowing: stored)
        }
    }

    private func answer(_ request: ApiRequest, with stored: StoredResponse, _ hit: CacheHit) -> ApiResponse {
        var response = ApiResponse(to: request, status: stored.status, headers: stored.headers)
        if hit != .validated {
            // RFC 9111, section 5.1.
            response.headers["Age"] = CacheFreshness(of: stored, at: request.timeSource.date).ageField
        }
        // As bytes of their own: what is stored is a part of a record.
        if !response.forbidsBody { response.body = ResponseBody(Data(stored.body)) }
        response.cacheHit = hit
        request.report(.servedFromCache(hit))
        return response
    }
}

extension DataRequestType {
    /// This provider, answering from a private cache by RFC 9111 and RFC 5861.
    ///
    /// ```swift
    /// let provider = SystemProvider().retrying().caching(in: MemoryCacheStorage()).authenticating(by: session)
    /// ```
    ///
    /// Stored are collected answers to GET that the server allows to be stored; a streamed body passes by. A request with a
    /// credential (a field or query item that ``/ApiConnector/Redactor/standard`` knows, one that a provider outside of this
    /// added, user info) is answered by what the very same credential was answered, and its answer stored only where the
    /// server says `private`, `public`, `must-revalidate` or `s-maxage`. Put it inside of what adds credentials: an answer to
    /// a credential that is added further in is not stored. The guide <doc:Caching> tells the rest.
    ///
    /// - Parameters:
    ///   - storage: Where answers are kept; ``MemoryCacheStorage``, ``DiskCacheStorage`` or one of your own.
    ///   - maximumBodyByteCount: The most bytes of bodies that are kept for one address; 4 MiB by default.
    public func caching(
        in storage: some CacheStorage,
        maximumBodyByteCount: Int = 4 * 1024 * 1024
    ) -> some DataRequestType {
        Cached(self, ResponseCache(storage, maximumBodyByteCount: maximumBodyByteCount))
    }
}

extension ApiRequest {
    /// The request as it goes to the server: one that wants its answer does not want another cache's.
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

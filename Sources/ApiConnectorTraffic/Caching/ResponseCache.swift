// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What a caching provider's copies share: the storage, and what is under way.
final class ResponseCache: Sendable {
    /// Where a request's answer would be.
    struct Place: Hashable {
        let key: CacheKey
        let credential: Data
        /// Whatever has been invalidated since may not be stored from an answer that was under way by then.
        fileprivate let invalidationCount: Int

        static func == (left: Place, right: Place) -> Bool {
            left.key == right.key && left.credential == right.credential
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(key)
            hasher.combine(credential)
        }
    }

    private struct State {
        var invalidationCount = 0
        /// By key, which of all invalidations was its last.
        var lastInvalidations: [CacheKey: Int] = [:]
        /// How many there were when the keys were last forgotten: each of them may have been among those.
        var forgottenCount = 0
        var renewals: Set<Place> = []

        func isInvalidated(_ place: Place) -> Bool {
            place.invalidationCount < max(forgottenCount, lastInvalidations[place.key] ?? 0)
        }
    }

    /// Beyond this number, keys that were invalidated are forgotten; what is under way by then is not stored.
    static let maximumInvalidationCount = 256

    /// How many responses at most are asked for again at the same time.
    static let maximumRenewalCount = 16

    private let storage: any CacheStorage
    private let digest: CacheDigest
    let maximumBodyByteCount: Int
    private let state = Protected(State())

    init(_ storage: some CacheStorage, maximumBodyByteCount: Int) {
        self.storage = storage
        digest = CacheDigest(key: storage.digestKey)
        self.maximumBodyByteCount = maximumBodyByteCount
    }

    /// Nil for a request that cannot be sent.
    func place(of request: ApiRequest) -> Place? {
        guard let key = digest.key(of: request.url, host: request.headers[.host]) else { return nil }
        return Place(
            key: key,
            credential: digest.credential(request.credentialParts),
            invalidationCount: state.withLock { $0.invalidationCount }
        )
    }

    /// What is stored for a request, and may be returned by its size.
    func stored(for request: ApiRequest, at place: Place) async throws(ApiConnectorError) -> StoredResponse? {
        guard let data = try await data(for: request, at: place), let record = CacheRecord(data) else { return nil }
        let stored = record.response(to: request, as: place.credential, digest)
        return stored.flatMap { $0.body.count <= request.delivery.maximumByteCount ? $0 : nil }
    }

    /// The bytes of a record; whatever the storage is doing, the call's cancel and its limits of time end the wait.
    private func data(for request: ApiRequest, at place: Place) async throws(ApiConnectorError) -> Data? {
        // Nothing to wait for, and so nothing to be left behind.
        if storage.answersWithoutWaiting { return await storage.record(for: place.key) }
        return try await request.withDeadline { [storage] in await storage.record(for: place.key) }
    }

    /// Stores a response where that may be; otherwise it takes away what it has replaced.
    func keep(
        _ response: ApiResponse,
        to request: ApiRequest,
        at place: Place,
        replacing old: StoredResponse?,
        sent: Date
    ) {
        if let new = storable(response, to: request, at: place, sent: sent) {
            insert(new, at: place)
        } else if let old, response.status.rawValue < 400 || response.status == 404 || response.status == 410 {
            remove(old, at: place)
        }
    }

    /// Stores a response that the server has confirmed, as far as it still allows that.
    ///
    /// - Parameter confirmation: What the server has confirmed it by.
    func keep(
        _ updated: StoredResponse,
        to request: ApiRequest,
        confirmedBy confirmation: ApiResponse,
        at place: Place,
        replacing old: StoredResponse
    ) {
        var updated = updated
        let sent = confirmation.request
        guard !confirmation.mayDependOnStoredCookies, let names = CacheRules.varyingNames(updated.headers),
            tellsAll(request, of: sent, names),
            mayStore(updated, to: request, at: place, redactor: sent.nameRedactor)
        else { return remove(old, at: place) }
        // It may vary by other fields now.
        updated.selection = digest.selection(of: request.headers, by: names)
        if updated.selection != old.selection { remove(old, at: place) }
        insert(updated, at: place)
    }

    func remove(_ old: StoredResponse, at place: Place) {
        update(place.key) { $0.remove(old) }
    }

    /// Forgets whatever is stored for some addresses, for all users.
    func invalidate(_ urls: [URL], host: String?) {
        guard !urls.isEmpty else { return }
        let keys = Set(urls.compactMap { digest.key(of: $0, host: host) })
        state.withLock { state in
            state.invalidationCount += 1
            for key in keys { state.lastInvalidations[key] = state.invalidationCount }
            guard state.lastInvalidations.count > Self.maximumInvalidationCount else { return }
            state.lastInvalidations = [:]
            state.forgottenCount = state.invalidationCount
        }
        for key in keys { storage.update(key) { _ in nil } }
    }

    /// Whether nobody else asks for a response again behind an answer, and not too many for others; it is up to
    /// ``endRenewal(at:)`` then.
    func beginRenewal(at place: Place) -> Bool {
        state.withLock { $0.renewals.count < Self.maximumRenewalCount && $0.renewals.insert(place).inserted }
    }

    func endRenewal(at place: Place) {
        state.withLock { _ = $0.renewals.remove(place) }
    }

    private func storable(_ response: ApiResponse, to request: ApiRequest, at place: Place, sent: Date)
        -> StoredResponse?
    {
        guard !response.mayDependOnStoredCookies,
            let body = response.body.collected, body.count <= maximumBodyByteCount,
            let names = CacheRules.varyingNames(response.headers), tellsAll(request, of: response.request, names)
        else { return nil }
        let stored = StoredResponse(
            status: response.status,
            headers: CacheRules.keptFields(of: response.headers, redactor: response.request.nameRedactor),
            body: body,
            requestDate: sent,
            responseDate: request.timeSource.date,
            credential: place.credential,
            selection: digest.selection(of: request.headers, by: names)
        )
        return mayStore(stored, to: request, at: place, redactor: response.request.nameRedactor) ? stored : nil
    }

    private func mayStore(
        _ stored: StoredResponse,
        to request: ApiRequest,
        at place: Place,
        redactor: Redactor
    ) -> Bool {
        CacheRules.mayStore(stored, to: request, hasCredentials: !place.credential.isEmpty)
            && !CacheRules.holdsSecret(stored.headers, redactor)
    }

    /// Whether a request shows all that its answer depends on: no provider further in has added to it who asks, or a
    /// field that the answer varies by.
    private func tellsAll(_ request: ApiRequest, of sent: ApiRequest, _ names: [HTTPHeaders.Name]) -> Bool {
        names.allSatisfy { request.headers.values($0) == sent.headers.values($0) }
            && request.credentialParts == sent.credentialParts
    }

    private func insert(_ new: StoredResponse, at place: Place) {
        update(place.key) { [self] record in
            guard state.withLock({ !$0.isInvalidated(place) }) else { return }
            record.insert(new)
            record.trim(to: maximumBodyByteCount)
        }
    }

    private func update(_ key: CacheKey, _ change: @escaping @Sendable (inout CacheRecord) -> Void) {
        storage.update(key) { data in
            var record = data.flatMap { CacheRecord($0) } ?? CacheRecord()
            change(&record)
            return record.responses.isEmpty ? nil : record.data
        }
    }
}

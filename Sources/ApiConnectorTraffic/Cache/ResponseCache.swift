// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The state that all copies of a caching provider share: the storage, recent invalidations and running renewals.
final class ResponseCache: Sendable {
    /// The place of a request's response in the cache.
    struct Place: Hashable {
        let key: CacheKey
        let credential: Data
        /// The number of invalidations when the request was sent: a response that was requested before an invalidation
        /// of its URL must not be stored.
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
        /// The number of the last invalidation of each key.
        var lastInvalidations: [CacheKey: Int] = [:]
        /// The number of invalidations when the invalidated keys were last forgotten.
        ///
        /// Any key may have been among the forgotten ones.
        var forgottenCount = 0
        var renewals: Set<Place> = []

        func isInvalidated(_ place: Place) -> Bool {
            place.invalidationCount < max(forgottenCount, lastInvalidations[place.key] ?? 0)
        }
    }

    /// Above this number, the invalidated keys are forgotten.
    ///
    /// The responses to requests that are running at that time are then not stored.
    static let maximumInvalidationCount = 256

    /// The largest number of concurrent renewals.
    static let maximumRenewalCount = 16

    private let storage: any CacheStorage
    private let digest: CacheDigest
    let maximumBodyByteCount: Int
    private let state = Protected(State())
    /// The keys and the parsed records of the URLs that were requested last, so that a hit computes them only once.
    private let keys = Protected(RecentValues<String, CacheKey>(maximumByteCount: 256 * 1024))
    private let parsed = Protected(RecentValues<CacheKey, ParsedCacheRecord>(maximumByteCount: 1024 * 1024))

    init(_ storage: some CacheStorage, maximumBodyByteCount: Int) {
        self.storage = storage
        digest = CacheDigest(key: storage.digestKey)
        self.maximumBodyByteCount = maximumBodyByteCount
    }

    /// Returns nil for a request that cannot be sent.
    func place(of request: ApiRequest) -> Place? {
        let parts = request.credentialParts
        guard let key = key(of: request, with: parts) else { return nil }
        return Place(
            key: key,
            credential: digest.credential(parts),
            invalidationCount: state.withLock { $0.invalidationCount }
        )
    }

    private func key(of request: ApiRequest, with credentialParts: [String]) -> CacheKey? {
        let host = request.headers[.host]
        // The digest of a URL with a secret is made again each time, so that the secret does not stay in memory.
        let isSecret = credentialParts.contains { $0.hasPrefix("?") || $0.hasPrefix("@") }
        guard host == nil, !isSecret, request.url.baseURL == nil else { return digest.key(of: request.url, host: host) }
        let text = request.url.absoluteString
        if let key = keys.withLock({ $0.value(for: text) }) { return key }
        guard let key = digest.key(of: request.url) else { return nil }
        keys.withLock { $0.insert(key, for: text, byteCount: text.utf8.count + 128) }
        return key
    }

    /// The stored response for a request, if its size is within the request's limit.
    func stored(for request: ApiRequest, at place: Place) async throws(ApiConnectorError) -> StoredResponse? {
        guard let data = try await data(for: request, at: place), let record = record(of: data, for: place.key) else {
            return nil
        }
        let stored = record.response(to: request, as: place.credential, digest, in: data)
        return stored.flatMap { $0.body.count <= request.delivery.maximumByteCount ? $0 : nil }
    }

    /// Parses a record, unless it was parsed before.
    private func record(of data: Data, for key: CacheKey) -> ParsedCacheRecord? {
        if let known = parsed.withLock({ $0.value(for: key) }), known.isParsed(from: data) { return known }
        guard let new = ParsedCacheRecord(data) else { return nil }
        parsed.withLock { $0.insert(new, for: key, byteCount: new.byteCount + 128) }
        return new
    }

    /// The bytes of a record.
    ///
    /// A cancellation of the call and its deadline end the wait, even if the storage hangs.
    private func data(for request: ApiRequest, at place: Place) async throws(ApiConnectorError) -> Data? {
        let data = try await storage.record(for: place.key, to: request)
        if storage.isUnavailable { request.report(.custom("sharedStateUnavailable", details: ["cache": "storage"])) }
        return data
    }

    /// Stores a response if that is allowed; otherwise removes the response that it replaces.
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

    /// Stores a response that the server has confirmed, if the server still allows it.
    ///
    /// - Parameter confirmation: The server's 304 response.
    func keep(
        _ updated: StoredResponse,
        to request: ApiRequest,
        confirmedBy confirmation: ApiResponse,
        at place: Place,
        replacing old: StoredResponse
    ) {
        var updated = updated
        let sent = confirmation.request
        guard !confirmation.mayDependOnStoredCookies, let names = updated.varyingNames,
            tellsAll(request, of: sent, names),
            mayStore(updated, to: request, at: place, redactor: sent.nameRedactor)
        else { return remove(old, at: place) }
        // The response may now vary by other fields.
        updated.selection = digest.selection(of: request.headers, by: names)
        if updated.selection != old.selection { remove(old, at: place) }
        insert(updated, at: place)
    }

    func remove(_ old: StoredResponse, at place: Place) {
        update(place.key) { $0.remove(old) }
    }

    /// Removes all stored responses of some URLs, for all users.
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

    /// Whether a background renewal may start: no other renewal of the place is running, and fewer than
    /// ``maximumRenewalCount`` renewals are running in total.
    ///
    /// ``endRenewal(at:)`` ends the renewal.
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

    /// Whether the cache has seen everything that the response depends on: no inner provider has added a credential, or
    /// a field that the response varies by.
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

/// Values in memory, of which the least recently used are forgotten.
///
/// There are two generations. When the new one has half of the bytes, it becomes the old one, and the values that were
/// not used since the last time are forgotten.
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Entry = (value: Value, byteCount: Int)

    /// The maximum size of all values in bytes.
    let maximumByteCount: Int

    private var new: [Key: Entry] = [:]
    private var old: [Key: Entry] = [:]
    private var newByteCount = 0

    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    /// The size of both generations.
    var byteCount: Int { old.values.reduce(newByteCount) { $0 + $1.byteCount } }

    /// The value of a key; it is used now.
    mutating func value(for key: Key) -> Value? {
        if let entry = new[key] { return entry.value }
        guard let entry = old[key] else { return nil }
        insert(entry.value, for: key, byteCount: entry.byteCount)
        return entry.value
    }

    /// Keeps a value, unless it is larger than an eighth of the maximum size.
    ///
    /// - Parameter byteCount: The approximate size of the value and its key in memory.
    mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
        old[key] = nil
        if let replaced = new.removeValue(forKey: key) { newByteCount -= replaced.byteCount }
        guard byteCount <= maximumByteCount / 8 else { return }
        if newByteCount + byteCount > maximumByteCount / 2 { (new, old, newByteCount) = ([:], new, 0) }
        new[key] = (value, byteCount)
        newByteCount += byteCount
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// State that several processes share: records, leases, token buckets and places of concurrency limits.
///
/// Each has a key.
///
/// ``MemorySharedState`` is for one process and for tests. ``FolderSharedState`` is for the processes of one machine.
/// `RedisSharedState` of the nested package `Fleet` shares state between machines. Write your own for another store.
///
/// - Every operation is atomic over all processes.
/// - Every operation ends within its time limit. It throws ``/ApiConnector/ApiConnectorError`` of kind
///   `.sharedStateUnavailable` if the store does not answer in time, and of kind `.cancelled` if its task is canceled.
///   An operation that fails in this way may still take effect later.
/// - The store measures times, so the clocks of the processes do not have to agree.
public protocol SharedState: Sendable {
    /// The record of a key; a record without data if there is none.
    func record(for key: SharedStateKey, within limit: Duration) async throws(ApiConnectorError) -> SharedRecord

    /// Replaces the record of a key, if it has not changed since it was read.
    ///
    /// The version protects the record from a process whose lease has ended.
    ///
    /// - Parameters:
    ///   - data: The new data; nil removes the record.
    ///   - key: The record's key.
    ///   - version: The version of the record that was read.
    ///   - lifetime: How long the store keeps the data; nil means until it is replaced.
    ///   - limit: The longest time that the operation takes.
    /// - Returns: The new version; nil if the record was not replaced.
    func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) async throws(ApiConnectorError) -> UInt64?

    /// Acquires a lease: for its duration, no other owner can acquire a lease with the same key.
    ///
    /// If the owner already has the lease, the lease is renewed: its duration starts again.
    ///
    /// - Parameters:
    ///   - key: The key of the lease.
    ///   - owner: A name that no other owner has, such as a UUID.
    ///   - duration: The time after which the lease expires, so that a crashed process does not block the others.
    ///   - limit: The longest time that the operation takes. It does not wait for another owner's lease to end.
    /// - Returns: The lease; nil if another owner has it. After an error, the owner may still have the lease until it
    ///   expires.
    func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedLease?

    /// Ends a lease before it expires; does nothing if the lease has already ended.
    func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError)

    /// Takes tokens from a bucket, which is full at first.
    ///
    /// - Parameters:
    ///   - count: The number of tokens. The bucket grants fewer if it does not have that many now and within `horizon`.
    ///   - key: The bucket's key.
    ///   - rate: The rate at which the bucket is refilled, and its size.
    ///   - horizon: Tokens that are added within this time can be taken in advance, so that no other process gets them.
    ///   - limit: The longest time that the operation takes. It does not wait for tokens.
    func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedTokens

    /// Changes how many places of a concurrency limit an owner has.
    ///
    /// - All owners together never have more places than `totalCount`. The places of an owner that does not call again
    ///   expire after `duration`.
    /// - If the owners want more places than there are, each has an equal share, unless it wants less. An owner that
    ///   has more than its share keeps the places that it uses, and gives the others back with each call.
    /// - If places are left over, or if there are more owners than places, the owners take turns. A turn lasts a
    ///   twentieth of `duration`.
    ///
    /// - Parameters:
    ///   - wantedCount: The number of places that the owner wants, including those that it has; 0 gives all back.
    ///   - totalCount: The number of places of all owners.
    ///   - key: The limit's key.
    ///   - owner: A name that no other owner has, such as a UUID.
    ///   - usedCount: The number of places that the owner uses now.
    ///   - duration: The time after which the places expire, so that the places of a crashed process come back.
    ///   - limit: The longest time that the operation takes. It does not wait for places.
    func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedPlaces

    /// Stops granting tokens of a bucket for a time, such as a server's `Retry-After`.
    ///
    /// Meanwhile, each result for tokens or places with the same key reports the hold. If an earlier call has set a
    /// later end, that end stays.
    func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError)
}

extension ApiConnectorError.Kind {
    /// The store of shared state did not answer in time, or failed.
    public static let sharedStateUnavailable = ApiConnectorError.Kind(rawValue: "sharedStateUnavailable")
}

/// The name of a record, a lease or a bucket: a namespace, such as the program's name, and a name.
///
/// A key must not contain a secret, because a store may show its keys.
public struct SharedStateKey: Sendable, Hashable, CustomStringConvertible {
    /// The namespace, so that programs that share a store do not collide.
    public let namespace: String
    /// The name within the namespace.
    public let name: String

    /// Makes a key.
    public init(_ name: String, in namespace: String) {
        self.namespace = namespace
        self.name = name
    }

    /// The namespace and the name, separated by a slash.
    ///
    /// A slash or a percent sign in the namespace is percent-encoded, so that no two keys have
    /// the same description.
    public var description: String {
        let encoded = namespace.replacing("%", with: "%25").replacing("/", with: "%2F")
        return "\(encoded)/\(name)"
    }
}

/// A version of shared data.
public struct SharedRecord: Sendable, Hashable {
    /// The version, which changes each time that the record is replaced.
    public let version: UInt64
    /// The data; nil if there is none, or if its lifetime is over.
    public let data: Data?

    /// Makes a record.
    ///
    /// For implementations of ``SharedState``.
    public init(version: UInt64, data: Data?) {
        self.version = version
        self.data = data
    }
}

/// A lock that expires: the exclusive right to do something for a limited time.
public struct SharedLease: Sendable, Hashable {
    /// The key of the lease.
    public let key: SharedStateKey
    /// The owner of the lease.
    public let owner: String
    /// The lease's number.
    ///
    /// Each new lease of a key has a higher number than the last.
    public let number: UInt64

    /// Makes a lease.
    ///
    /// For implementations of ``SharedState``.
    public init(key: SharedStateKey, owner: String, number: UInt64) {
        self.key = key
        self.owner = owner
        self.number = number
    }
}

/// The result of taking tokens from a bucket.
public struct SharedTokens: Sendable, Hashable {
    /// How many of the tokens can be used now.
    public let readyCount: Int
    /// How many tokens were taken in advance.
    ///
    /// They can be used later, one by one, at the bucket's rate.
    public let aheadCount: Int
    /// The time until the first token that was taken in advance can be used.
    ///
    /// If there is none, the time until a new request for tokens can succeed.
    ///
    /// Zero if all tokens can be used now.
    public let wait: Duration
    /// Whether the bucket is on hold, for example because of a server's `Retry-After`.
    ///
    /// ``wait`` is then the time until the hold ends. Until then, a process must not use tokens that it took before.
    public let isOnHold: Bool

    /// Makes a result.
    ///
    /// For implementations of ``SharedState``.
    public init(readyCount: Int, aheadCount: Int = 0, wait: Duration = .zero, isOnHold: Bool = false) {
        self.readyCount = readyCount
        self.aheadCount = aheadCount
        self.wait = wait
        self.isOnHold = isOnHold
    }
}

/// The places of a shared concurrency limit that an owner has.
public struct SharedPlaces: Sendable, Hashable {
    /// How many requests the owner may have in flight.
    ///
    /// An owner with more requests in flight starts none until enough of them have ended.
    public let count: Int
    /// Whether any owner wants more places than it has.
    public let isContended: Bool
    /// The time until a hold ends, such as a server's `Retry-After`; zero if there is no hold.
    ///
    /// The owner must not start a request before that.
    public let hold: Duration

    /// Makes a result.
    ///
    /// For implementations of ``SharedState``.
    public init(count: Int, isContended: Bool, hold: Duration = .zero) {
        self.count = count
        self.isContended = isContended
        self.hold = hold
    }
}

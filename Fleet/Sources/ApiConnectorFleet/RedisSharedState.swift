// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTraffic
import Foundation

/// Shared state in Redis 6.2 or later, for the instances of a service on several machines.
///
/// - Each operation is one script. So it is atomic, and needs one round trip. The commands of concurrent calls are
///   pipelined.
/// - Times are measured on the clock of the Redis server.
/// - A lost connection is opened again after a wait. The wait is 50 milliseconds at first, and doubles up to 2 seconds.
///   If all connections are lost, operations fail at once meanwhile.
/// - An operation that has no reply within its limit fails. Redis may still have run it. Taken tokens are then lost,
///   and an acquired lease ends by itself. If the connection does not reply for a second, it is then closed.
/// - A connection to a server that is a replica, or wants a password again, is closed. So after a failover, the next
///   connection reaches the new primary server, if the host's name leads to it.
/// - A key is `{namespace/name}`, followed by a letter for its kind. This client does not follow the redirects of a
///   Redis Cluster. To use a cluster, connect to a proxy for it.
/// - Each key has a time to live. Redis keeps a record without a lifetime for a year after the record was last read or
///   replaced.
/// - Data is stored unencrypted. Encrypt secrets, for example with `SharedSessionStorage.encrypted(with:for:)`.
///
/// If Redis loses its data, leases end and buckets are full. The next instance that refreshes a
/// ``/ApiConnectorTraffic/SharedSession`` stores the session again.
public final class RedisSharedState: SharedState {
    private let client: RedisClient

    /// Makes a store, which connects at its first operation.
    ///
    /// - Parameters:
    ///   - server: The address of the Redis server.
    ///   - connectionCount: The number of connections; 2 by default.
    public init(_ server: RedisServer, connectionCount: Int = 2) {
        client = RedisClient(server, connectionCount: connectionCount)
    }

    init(_ client: RedisClient) {
        self.client = client
    }

    /// The record of a key.
    public func record(for key: SharedStateKey, within limit: Duration) async throws(ApiConnectorError) -> SharedRecord
    {
        let reply = try await run(.record, key, [], within: limit)
        guard let elements = reply.elements, elements.count == 2, let version = elements[0].integer else {
            throw unexpected(reply)
        }
        return SharedRecord(version: UInt64(clamping: version), data: elements[1].data)
    }

    /// Replaces a record.
    public func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) async throws(ApiConnectorError) -> UInt64? {
        var arguments = [Data("\(version)".utf8), Data("\(lifetime.map { max($0.inMicroseconds, 1) } ?? 0)".utf8)]
        if let data { arguments.append(data) }
        let reply = try await run(.replace, key, arguments, within: limit)
        guard let new = reply.integer else { throw unexpected(reply) }
        return new < 0 ? nil : UInt64(new)
    }

    /// Acquires a lease.
    public func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedLease? {
        let arguments = [Data(owner.utf8), Data("\(max(duration.inMicroseconds, 1))".utf8)]
        let reply = try await run(.acquire, key, arguments, within: limit)
        guard let number = reply.integer else { throw unexpected(reply) }
        return number < 0 ? nil : SharedLease(key: key, owner: owner, number: UInt64(number))
    }

    /// Ends a lease.
    public func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError) {
        let arguments = [Data(lease.owner.utf8), Data("\(lease.number)".utf8)]
        _ = try await run(.end, lease.key, arguments, within: limit)
    }

    /// Takes tokens.
    public func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedTokens {
        let interval = max((rate.duration / rate.count).inMicroseconds, 1)
        // Scripts in Redis calculate with doubles, so the numbers must not be too large.
        let burst = min(Int64(rate.burstCount), 1_000_000, max(Self.largestNumber / interval, 1))
        let numbers = [Int64(max(count, 0)), interval, interval * burst, min(horizon.inMicroseconds, 3_600_000_000)]
        let reply = try await run(.take, key, numbers.map { Data("\($0)".utf8) }, within: limit)
        guard let answer = reply.elements?.compactMap(\.integer), answer.count == 4 else { throw unexpected(reply) }
        return SharedTokens(
            readyCount: Int(clamping: answer[0]),
            aheadCount: Int(clamping: answer[1]),
            wait: .microseconds(answer[2]),
            isOnHold: answer[3] == 1
        )
    }

    /// Replaces the places of an owner.
    public func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedPlaces {
        let counts = [wantedCount, usedCount, totalCount].map { min(max(Int64($0), 0), 1_000_000) }
        let numbers = counts + [max(duration.inMicroseconds, 1)]
        let arguments = [Data(owner.utf8)] + numbers.map { Data("\($0)".utf8) }
        let reply = try await run(.places, key, arguments, within: limit)
        guard let answer = reply.elements?.compactMap(\.integer), answer.count == 3 else { throw unexpected(reply) }
        return SharedPlaces(
            count: Int(clamping: answer[0]),
            isContended: answer[1] == 1,
            hold: .microseconds(answer[2])
        )
    }

    /// Stops granting tokens for a time.
    public func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) {
        _ = try await run(.hold, key, [Data("\(duration.inMicroseconds)".utf8)], within: limit)
    }

    private static let largestNumber: Int64 = 1 << 50

    private func run(
        _ script: RedisScript,
        _ key: SharedStateKey,
        _ arguments: [Data],
        within limit: Duration
    ) async throws(ApiConnectorError) -> RedisReply {
        let end = ContinuousClock.now + limit
        let keys = script.keys.map { Data("{\(key)}\($0)".utf8) }
        let rest = [Data("\(keys.count)".utf8)] + keys + arguments
        let digest = [Data("EVALSHA".utf8), Data(script.digest.utf8)]
        var reply = try await send(digest + rest, within: limit)
        // Redis forgets its scripts when it is restarted.
        if case .failure(let text) = reply, text.hasPrefix("NOSCRIPT") {
            reply = try await send([Data("EVAL".utf8), script.text] + rest, within: end - .now)
        }
        if case .failure(let text) = reply { throw .unavailable("Redis refuses the operation: \(text)") }
        return reply
    }

    private func send(_ arguments: [Data], within limit: Duration) async throws(ApiConnectorError) -> RedisReply {
        let command: RedisCommand
        do throws(RedisFault) { command = try RedisCommand(arguments) } catch { throw .unavailable("\(error)") }
        return try await client.send(command, within: limit)
    }

    private func unexpected(_ reply: RedisReply) -> ApiConnectorError {
        .unavailable("Redis replied in a form that was not expected; another program may use the same keys")
    }
}

extension Duration {
    /// Whole microseconds, between 0 and 10 years.
    fileprivate var inMicroseconds: Int64 {
        let bounded = min(max(self, .zero), .seconds(315_576_000)).components
        return bounded.seconds * 1_000_000 + bounded.attoseconds / (1_000_000_000_000 as Int64)
    }
}

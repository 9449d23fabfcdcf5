// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Crypto
import Foundation

/// A script that Redis runs as a whole.
///
/// Redis runs no other command between the script's commands.
///
/// Times are in microseconds on the clock of the Redis server.
///
/// Each script has one key, so that it works on every node of a cluster.
struct RedisScript: Sendable {
    let text: Data
    /// The name of the script in Redis.
    let digest: String

    private init(_ body: String) {
        let start = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local key = KEYS[1]
            local function text(number) return string.format('%.0f', number) end
            local function keep(microseconds) redis.call('PEXPIRE', key, text(math.ceil(microseconds / 1000) + 1)) end

            """
        text = Data((start + body).utf8)
        digest = Insecure.SHA1.hash(data: text).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Returns the version and the data of a record.
    static let record = RedisScript(
        """
        local known = redis.call('HMGET', key, 'version', 'data', 'end')
        if known[3] and tonumber(known[3]) <= now then known[2] = false end
        return {known[1] or '0', known[2]}
        """
    )

    /// Replaces a record, and returns the new version, or -1.
    ///
    /// Arguments: the version, the lifetime (0 for none), and the data unless it is removed.
    ///
    /// Versions are times, so that they continue to grow after Redis has lost its data.
    static let replace = RedisScript(
        """
        local version = redis.call('HGET', key, 'version') or '0'
        if version ~= ARGV[1] then return '-1' end
        local new = text(math.max(tonumber(version) + 1, now))
        local lifetime = tonumber(ARGV[2])
        redis.call('DEL', key)
        redis.call('HSET', key, 'version', new)
        if ARGV[3] then
            redis.call('HSET', key, 'data', ARGV[3])
            if lifetime > 0 then redis.call('HSET', key, 'end', text(now + lifetime)) end
        end
        -- The version stays for a month after the data, for those who have read it.
        if lifetime > 0 or not ARGV[3] then keep(lifetime + 2592000000000) end
        return new
        """
    )

    /// Acquires a lease, and returns its number, or -1.
    ///
    /// Arguments: the owner, the duration.
    static let acquire = RedisScript(
        """
        local known = redis.call('HMGET', key, 'owner', 'number')
        local number = known[2]
        if known[1] and known[1] ~= ARGV[1] then return '-1' end
        if not known[1] then number = text(now) end
        redis.call('HSET', key, 'owner', ARGV[1], 'number', number)
        keep(tonumber(ARGV[2]))
        return number
        """
    )

    /// Ends a lease.
    ///
    /// Arguments: the owner, the lease's number.
    static let end = RedisScript(
        """
        local known = redis.call('HMGET', key, 'owner', 'number')
        if known[1] == ARGV[1] and known[2] == ARGV[2] then redis.call('DEL', key) end
        return 0
        """
    )

    /// Takes tokens by the virtual scheduling algorithm of ITU-T I.371.
    ///
    /// Arguments: the count, the interval between two tokens, the bucket's size as a time, and the horizon. Returns the
    /// number of tokens that can be used now, the number of tokens that were taken in advance, and the wait for the
    /// first of the latter.
    static let take = RedisScript(
        """
        local count, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
        local size, horizon = tonumber(ARGV[3]), tonumber(ARGV[4])
        local known = redis.call('HMGET', key, 'full', 'hold')
        local hold = tonumber(known[2] or 0)
        if hold > now then return {0, 0, hold - now} end
        -- A clock that was set back must not make a wait longer than the longest horizon.
        local full = math.min(math.max(tonumber(known[1] or 0), now), now + size + 3600000000)
        local ready = math.min(count, math.max(math.floor((now + size - full) / interval), 0))
        local wait = math.max(full + interval * (ready + 1) - size - now, 0)
        local ahead = 0
        if ready < count and wait <= horizon then
            ahead = math.min(count - ready, math.floor((horizon - wait) / interval) + 1)
        end
        full = full + interval * (ready + ahead)
        redis.call('HSET', key, 'full', text(full))
        keep(full - now)
        if ready == count then wait = 0 end
        return {ready, ahead, wait}
        """
    )

    /// Stops granting tokens for a time.
    ///
    /// Argument: the duration.
    static let hold = RedisScript(
        """
        local known = redis.call('HMGET', key, 'full', 'hold')
        local hold = math.max(tonumber(known[2] or 0), now + tonumber(ARGV[1]))
        redis.call('HSET', key, 'hold', text(hold))
        keep(math.max(hold, tonumber(known[1] or 0)) - now)
        return 0
        """
    )
}

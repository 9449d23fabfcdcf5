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
/// All keys of a script have the same hash tag, so that they are on one node of a cluster. Each key has a time to live:
///
/// | Key | Content | Time to live |
/// |---|---|---|
/// | `r` | the version of a record | the time to live of the data, and a month more |
/// | `d` | the data of a record | the record's lifetime; without one, a year after the last use |
/// | `l` | a lease and its number | the duration of the lease, and a month more |
/// | `b` | a token bucket | until the bucket is full and not on hold |
/// | `p` | the places of a concurrency limit | until the last owner's places expire |
///
/// Versions and numbers never decrease. Redis keeps them for the processes that have read them. A new version or number
/// is at least the current time. So the values continue to grow even after Redis has lost its data.
struct RedisScript: Sendable {
    let text: Data
    /// The name of the script in Redis.
    let digest: String
    /// The letters of the script's keys.
    let keys: [String]

    private init(_ keys: String..., body: String) {
        let start = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local month, year = 2592000000000, 31536000000000
            local key = KEYS[1]
            local function text(number) return string.format('%.0f', number) end
            local function milliseconds(number) return text(math.ceil(number / 1000) + 1) end
            -- Never makes the time to live of a key shorter.
            local function keep(key, time)
                local left = milliseconds(time)
                if redis.call('PTTL', key) < tonumber(left) then redis.call('PEXPIRE', key, left) end
            end
            -- The time until a hold ends. A clock that was set back must not make it longer.
            local function hold(key)
                local known = redis.call('HMGET', key, 'hold', 'length')
                if not known[1] then return 0 end
                local last = math.min(tonumber(known[1]), now + tonumber(known[2]))
                if last < tonumber(known[1]) then redis.call('HSET', key, 'hold', text(last)) end
                return math.max(last - now, 0)
            end

            """
        text = Data((start + body).utf8)
        digest = Insecure.SHA1.hash(data: text).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        self.keys = keys
    }

    /// Returns the version and the data of a record.
    static let record = RedisScript(
        "r",
        "d",
        body: """
            local known = redis.call('HMGET', key, 'version', 'lasting')
            if not known[1] then return {'0', false} end
            if known[2] then
                keep(KEYS[2], year)
                keep(key, year + month)
            end
            return {known[1], redis.call('GET', KEYS[2])}
            """
    )

    /// Replaces a record, and returns the new version, or -1 if the record has another version than the argument.
    ///
    /// Arguments: the version, the lifetime (0 for none), and the data unless it is removed.
    static let replace = RedisScript(
        "r",
        "d",
        body: """
            local version = redis.call('HGET', key, 'version') or '0'
            if version ~= ARGV[1] then return '-1' end
            local new = text(math.max(tonumber(version) + 1, now))
            local lifetime = tonumber(ARGV[2])
            redis.call('DEL', KEYS[2])
            redis.call('HDEL', key, 'lasting')
            redis.call('HSET', key, 'version', new)
            if ARGV[3] then
                if lifetime == 0 then
                    lifetime = year
                    redis.call('HSET', key, 'lasting', 1)
                end
                redis.call('SET', KEYS[2], ARGV[3], 'PX', text(math.ceil(lifetime / 1000)))
            end
            -- The version is kept for the processes that have read it.
            keep(key, lifetime + month)
            return new
            """
    )

    /// Acquires a lease, and returns its number, or -1 if another owner has the lease.
    ///
    /// Arguments: the owner, the duration.
    static let acquire = RedisScript(
        "l",
        body: """
            local known = redis.call('HMGET', key, 'owner', 'number', 'end', 'duration')
            local duration = tonumber(ARGV[2])
            local number = known[2]
            if known[1] and known[1] ~= ARGV[1] then
                -- A clock that was set back must not make a lease longer.
                local last = math.min(tonumber(known[3]), now + tonumber(known[4]))
                if last > now then
                    redis.call('HSET', key, 'end', text(last))
                    return '-1'
                end
            end
            if known[1] ~= ARGV[1] then number = text(math.max(tonumber(number or 0) + 1, now)) end
            redis.call(
                'HSET', key, 'owner', ARGV[1], 'number', number, 'end', text(now + duration), 'duration', ARGV[2]
            )
            keep(key, duration + month)
            return number
            """
    )

    /// Ends a lease.
    ///
    /// Arguments: the owner, the lease's number.
    static let end = RedisScript(
        "l",
        body: """
            local known = redis.call('HMGET', key, 'owner', 'number')
            if known[1] == ARGV[1] and known[2] == ARGV[2] then redis.call('HDEL', key, 'owner', 'end', 'duration') end
            return 0
            """
    )

    /// Takes tokens by the virtual scheduling algorithm of ITU-T I.371.
    ///
    /// Arguments: the count, the interval between two tokens, the bucket's size as a time, and the horizon: how far
    /// ahead tokens can be taken.
    ///
    /// Returns these numbers:
    ///
    /// - The number of tokens that can be used now.
    /// - The number of tokens that were taken in advance.
    /// - The wait for the first token that was taken in advance, or for the next token if none was taken in advance. If
    ///   the bucket is on hold, the time until the hold ends.
    /// - 1 if the bucket is on hold, and 0 otherwise.
    static let take = RedisScript(
        "b",
        body: """
            local count, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
            local size, horizon = tonumber(ARGV[3]), tonumber(ARGV[4])
            local held = hold(key)
            if held > 0 then return {0, 0, held, 1} end
            -- A clock that was set back must not make a wait longer.
            local known = redis.call('HMGET', key, 'full', 'lead')
            local longest = size + 3600000000
            local lead = math.min(tonumber(known[2] or longest), longest)
            local full = math.max(math.min(tonumber(known[1] or 0), now + lead), now)
            local ready = math.min(count, math.max(math.floor((now + size - full) / interval), 0))
            local wait = math.max(full + interval * (ready + 1) - size - now, 0)
            local ahead = 0
            if ready < count and wait <= horizon then
                ahead = math.min(count - ready, math.floor((horizon - wait) / interval) + 1)
            end
            full = full + interval * (ready + ahead)
            redis.call('HSET', key, 'full', text(full), 'lead', text(full - now))
            keep(key, full - now)
            if ready == count then wait = 0 end
            return {ready, ahead, wait, 0}
            """
    )

    /// Replaces the places of an owner, by the rules of `SharedPlacesEntry`.
    ///
    /// Arguments: the owner, the wanted, used and total counts, and the duration.
    ///
    /// Returns these numbers:
    ///
    /// - The number of places that the owner has.
    /// - 1 if any owner wants more places than it has, and 0 otherwise.
    /// - The time until a hold ends.
    static let places = RedisScript(
        "p",
        "b",
        body: """
            local owner, wanted, used = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
            local total, duration = tonumber(ARGV[4]), tonumber(ARGV[5])
            local function claim(held, wanted, last, duration)
                return text(held) .. ' ' .. text(wanted) .. ' ' .. text(last) .. ' ' .. text(duration)
            end
            local all = redis.call('HGETALL', key)
            local claims, free, contended = {{owner, wanted}}, total, false
            for index = 1, #all, 2 do
                local held, want, last, length = string.match(all[index + 1], '(%d+) (%d+) (%d+) (%d+)')
                held, want, length = tonumber(held), tonumber(want), tonumber(length)
                -- A clock that was set back must not make a claim longer.
                local final = math.min(tonumber(last), now + length)
                if final <= now then
                    redis.call('HDEL', key, all[index])
                elseif all[index] ~= owner then
                    claims[#claims + 1] = {all[index], want}
                    free = free - held
                    contended = contended or want > held
                    if final < tonumber(last) then
                        redis.call('HSET', key, all[index], claim(held, want, final, length))
                    end
                end
            end
            table.sort(claims, function(one, other)
                if one[2] ~= other[2] then return one[2] < other[2] end
                return one[1] < other[1]
            end)
            local left, share = total, 0
            local turn = math.floor(now / math.max(math.floor(duration / 20), 1))
            for index = 1, #claims do
                local owners = #claims - index + 1
                local equal = math.floor(left / owners)
                if claims[index][2] > equal then
                    -- All of these want more than an equal share. They take turns at the places that are left over.
                    local names = {}
                    for other = index, #claims do names[#names + 1] = claims[other][1] end
                    table.sort(names)
                    for rank = 1, #names do
                        if names[rank] == owner then
                            share = equal
                            if (rank - 1 + turn) % owners < left % owners then share = equal + 1 end
                        end
                    end
                    break
                end
                if claims[index][1] == owner then
                    share = wanted
                    break
                end
                left = left - claims[index][2]
            end
            local count = math.min(wanted, share, math.max(free, 0))
            local held = math.max(used, count)
            if held > 0 or wanted > 0 then
                redis.call('HSET', key, owner, claim(held, wanted, now + duration, duration))
                keep(key, duration)
            else
                redis.call('HDEL', key, owner)
            end
            return {count, (contended or wanted > count) and 1 or 0, hold(KEYS[2])}
            """
    )

    /// Stops granting tokens for a time.
    ///
    /// Argument: the duration.
    static let hold = RedisScript(
        "b",
        body: """
            local length = tonumber(ARGV[1])
            if length <= hold(key) then return 0 end
            redis.call('HSET', key, 'hold', text(now + length), 'length', ARGV[1])
            keep(key, length)
            return 0
            """
    )
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The rate limits in a response's header fields.
///
/// - `Retry-After` (RFC 9110, section 10.2.3) of a 403, a 429 or a 503.
/// - `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers: from version -08 on, structured lists
///   such as `"default";r=5;t=30`; in -07, a dictionary such as `limit=100, remaining=5, reset=30`.
/// - `RateLimit-Remaining` and `RateLimit-Reset` of the earlier drafts, and the same names with the prefix `X-`. The
///   reset is a number of seconds. From 1,000,000,000 on, it is a Unix time in seconds or milliseconds.
///
/// Invalid values are ignored.
struct ServerLimits: Equatable {
    struct Quota: Equatable {
        /// The remaining number of requests.
        var count: Int
        /// The time from now until the quota resets.
        var reset: Duration
    }

    /// Whether the server has refused the request because of a rate limit.
    let isThrottling: Bool
    /// How long the server wants no requests.
    var pause: Duration?
    /// Whether perhaps only a part of the origin's servers wants this pause, because the status is 503.
    let isPartial: Bool
    /// The tightest of the server's quotas.
    var quota: Quota?

    init(_ headers: HTTPHeaders, status: HTTPStatus, date: Date) {
        // A 403 without `Retry-After` is a permanent refusal.
        let pause = [403, 429, 503].contains(status) ? headers.retryAfter(now: date) : nil
        isThrottling = status == 429 || status == 503 || pause != nil
        self.pause = pause
        isPartial = status == 503
        guard !headers.isEmpty else { return }
        let quotas = Self.structured(headers) + Self.prefixes.compactMap { Self.numbered($0, headers, date) }
        quota = quotas.min { ($0.count, $1.reset) < ($1.count, $0.reset) }
    }

    private static let prefixes = ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"]

    private static func structured(_ headers: HTTPHeaders) -> [Quota] {
        let values = headers.values("RateLimit")
        guard !values.isEmpty else { return [] }
        let members = values.flatMap { ParameterizedList.members(of: $0) }
        let policies = headers.values("RateLimit-Policy").flatMap { ParameterizedList.members(of: $0) }
        let quotas = members.compactMap { member -> Quota? in
            let policy = policies.first { $0.item == member.item }
            guard let count = number(member.parameters["r"]),
                let reset = number(member.parameters["t"]) ?? number(policy?.parameters["w"])
            else { return nil }
            return Quota(count: Int(min(count, 1e9)), reset: .seconds(reset))
        }
        let fields = Dictionary(members.flatMap(\.fields)) { first, _ in first }
        guard let count = number(fields["remaining"]), let reset = number(fields["reset"]) else { return quotas }
        return quotas + [Quota(count: Int(min(count, 1e9)), reset: .seconds(reset))]
    }

    private static func numbered(_ prefix: String, _ headers: HTTPHeaders, _ date: Date) -> Quota? {
        func value(_ name: String) -> Double? {
            let text = headers[HTTPHeaders.Name(prefix + name)]
            return number(text.map { String($0.prefix { $0 != "," && $0 != ";" }) })
        }
        guard let count = value("Remaining"), var reset = value("Reset-After") ?? value("Reset") else { return nil }
        if reset >= 1e11 { reset /= 1000 }
        if reset >= 1e9 { reset -= date.timeIntervalSince1970 }
        return Quota(count: Int(min(count, 1e9)), reset: .seconds(max(reset, 0)))
    }

    /// The value of a decimal number, at most 10^15; nil for any other text.
    private static func number(_ text: String?) -> Double? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty,
            text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Double(text)
        else { return nil }
        return min(number, 1e15)
    }
}

/// A parser for lists of items with parameters (RFC 9651, section 3.1).
///
/// It reads only names and numbers.
private enum ParameterizedList {
    struct Member {
        /// The text before the first parameter, without quotes.
        var item: String
        var parameters: [String: String] = [:]
        /// The item, parsed as a field of a dictionary.
        var fields: [(String, String)] { ParameterizedList.pair(item).map { [$0] } ?? [] }
    }

    static func members(of text: String) -> [Member] {
        text.parts(between: ",").map { member in
            let parts = member.parts(between: ";")
            let pairs = parts.dropFirst().compactMap(pair)
            return Member(
                item: parts.first?.trimmingCharacters(in: CharacterSet(charactersIn: "\"")) ?? "",
                parameters: Dictionary(pairs) { _, last in last }
            )
        }
    }

    private static func pair(_ text: String) -> (String, String)? {
        guard let place = text.firstIndex(of: "=") else { return nil }
        return (String(text[..<place]), String(text[text.index(after: place)...]))
    }
}

extension StringProtocol {
    /// The nonempty parts between separators outside of quotes, without surrounding whitespace.
    fileprivate func parts(between separator: Character) -> [String] {
        var parts: [SubSequence] = []
        var start = startIndex
        var isQuoted = false
        var isEscaped = false
        for index in indices {
            let character = self[index]
            if character == separator, !isQuoted {
                parts.append(self[start..<index])
                start = self.index(after: index)
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
        }
        return (parts + [self[start...]]).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

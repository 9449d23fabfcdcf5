// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// SplitMix64 (Steele, Lea, Flood, 2014): random numbers from a seed and a text.
///
/// The numbers are the same on every platform and in every process.
package struct KeyedRandom {
    private var state: UInt64

    package init(_ seed: UInt64, _ key: String, _ number: Int = 0) {
        var mixer = Self(state: seed)
        state = mixer.next() ^ Self.hash(key.utf8)
        state = next() ^ UInt64(truncatingIfNeeded: number)
    }

    private init(state: UInt64) {
        self.state = state
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, the bound.
    package mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// The numbers below a bound, in random order.
    mutating func permutation(of count: Int) -> [Int] {
        var numbers = Array(0..<count)
        for index in numbers.indices.dropFirst().reversed() { numbers.swapAt(index, next(below: index + 1)) }
        return numbers
    }

    /// The FNV-1a hash of bytes.
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

/// The key of a request: `GET /teas/1`, or `POST /teas~` and a hash of the body for a request with a body in memory.
///
/// The key does not include the header fields, nor the host, because a server's port differs from run to run. JSON
/// bodies are compared as values, because encoders do not promise an order of keys. Secrets in the URL are replaced.
struct ExchangeKey: Hashable, Sendable {
    /// The key without the body.
    let short: String
    let full: String

    init(_ request: ApiRequest) {
        let url = RequestSummary(request).url
        let origin = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = origin.firstIndex(of: "/").map { origin[$0...] } ?? "/"
        short = "\(request.method.rawValue) \(path)"
        full = short + (Self.hash(request).map { "~" + $0 } ?? "")
    }

    private static func hash(_ request: ApiRequest) -> String? {
        guard let data = try? request.body.data(), !data.isEmpty else { return nil }
        let value = request.body.mediaType?.isJSON == true ? JSONValue(parsing: data) : nil
        let hash = value.map { KeyedRandom.hash($0.description.utf8) } ?? KeyedRandom.hash(data)
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

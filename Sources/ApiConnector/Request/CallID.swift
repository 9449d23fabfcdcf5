// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What the events of one call share, over all its attempts and redirects.
///
/// 128 random bits, and the trace id that ``DataRequestType/tracing(isSampled:random:)`` sends, so that logs and traces
/// find each other.
public struct CallID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes an id of a source of random bits; never the one whose bits are all 0, which Trace Context forbids.
    init(random: @Sendable () -> UInt64) {
        high = random()
        let bits = random()
        low = high == 0 && bits == 0 ? 1 : bits
    }

    /// 32 hexadecimal digits in lower case.
    public var description: String { high.hexadecimal + low.hexadecimal }
}

extension UInt64 {
    /// 16 hexadecimal digits in lower case.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

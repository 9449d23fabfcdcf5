// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The ID of a call, which all its events, attempts and redirects share.
///
/// It has 128 random bits. ``DataRequestType/tracing(isSampled:random:)`` sends it as the trace ID, so that logs and
/// traces can be correlated.
public struct CallID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes an ID from random bits; never the ID of zeros, which Trace Context forbids.
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

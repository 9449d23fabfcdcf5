// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension StringProtocol {
    /// Whether the string is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// The string as a number of seconds (RFC 9111, section 1.2.2); nil if it has other characters than digits.
    ///
    /// A number that is too large becomes 2^31, as the section requires.
    var deltaSeconds: Int64? {
        guard !isEmpty, utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Swift.min(Int64(self) ?? .max, 1 << 31)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

extension Data {
    /// Data in which each byte is its index times `step`, modulo 256.
    ///
    /// So a test notices a misplaced byte.
    package static func counting(by step: Int, byteCount: Int) -> Data {
        let period = Data((0..<256).map { UInt8(truncatingIfNeeded: $0 &* step) })
        var data = Data(capacity: byteCount + period.count)
        while data.count < byteCount { data.append(period) }
        return data.prefix(byteCount)
    }
}

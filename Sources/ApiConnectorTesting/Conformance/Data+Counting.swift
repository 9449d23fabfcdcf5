// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

extension Data {
    /// Bytes of which each is its place times a step, so that one out of place is seen; from 0 again after 256.
    package static func counting(by step: Int, byteCount: Int) -> Data {
        let period = Data((0..<256).map { UInt8(truncatingIfNeeded: $0 &* step) })
        var data = Data(capacity: byteCount + period.count)
        while data.count < byteCount { data.append(period) }
        return data.prefix(byteCount)
    }
}

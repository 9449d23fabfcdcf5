// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

extension Data {
    /// Bytes that reveal a wrong order.
    ///
    /// Another seed gives other bytes.
    static func pattern(_ byteCount: Int, seed: Int = 1) -> Data {
        let block = Data((0..<4099).map { UInt8(truncatingIfNeeded: $0 &* (2 * seed + 1)) })
        var data = Data(capacity: byteCount + block.count)
        while data.count < byteCount { data.append(block) }
        return data.prefix(byteCount)
    }
}

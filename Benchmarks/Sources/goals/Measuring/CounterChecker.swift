// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Compares bytes with the expected counter.
struct CounterChecker {
    private(set) var byteCount = 0
    private(set) var wrongByteCount = 0

    mutating func skip(_ count: Int) {
        byteCount += count
    }

    mutating func check(_ chunk: Data) {
        chunk.withUnsafeBytes { bytes in
            for byte in bytes {
                if byte != UInt8(truncatingIfNeeded: (byteCount / 8) >> (8 * (byteCount % 8))) { wrongByteCount += 1 }
                byteCount += 1
            }
        }
    }
}

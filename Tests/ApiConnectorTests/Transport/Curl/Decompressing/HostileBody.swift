// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// Bodies that are much work and little else.
enum HostileBody {
    /// The beginning of raw deflate data: blocks that hold nothing, five bytes each.
    static func emptyBlocks(byteCount: Int) -> Data {
        var blocks = Data(capacity: byteCount)
        while blocks.count < byteCount { blocks.append(contentsOf: [0, 0, 0, 0xFF, 0xFF] as [UInt8]) }
        return blocks
    }

    /// The last block, which holds nothing either.
    static let lastBlock = Data([1, 0, 0, 0xFF, 0xFF])
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A suite whose tests keep records in their own folder.
protocol CacheFolderSuite {
    var folder: TemporaryFolder { get }
}

extension CacheFolderSuite {
    func key(_ number: Int) -> CacheKey {
        CacheKey(digest: SHA256Digest.digest(of: Array("\(number)".utf8)))
    }

    func disk(_ maximumByteCount: Int = 1 << 20, calls: CacheFileCalls = .system) -> DiskCacheStorage {
        DiskCacheStorage(folder: folder.url, maximumByteCount: maximumByteCount, calls: calls)
    }

    /// The names of the records that are there.
    var records: [String] { folder.names.filter { $0.hasSuffix(".record") } }

    func size(of names: [String]) -> Int { names.reduce(0) { $0 + (folder.data($1)?.count ?? 0) } }
}

extension Gate {
    /// Blocks a storage's own thread, as a slow disk does.
    func block() { try? wait() }
}

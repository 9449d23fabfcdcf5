// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
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

extension DiskCacheStorage {
    /// Replaces a record; returns a gate that opens when the storage has written or dropped the change.
    func replace(_ key: CacheKey, with record: Data?) -> Gate {
        let end = ReleaseSignal()
        update(key) { _ in withExtendedLifetime(end) { record } }
        return end.gate
    }

    /// Returns when the storage has written or dropped each earlier change.
    func finishWrites() async throws {
        // A storage makes its changes in their order.
        try await replace(CacheKey(digest: []), with: nil).opened()
    }

    /// Stores a record, and returns when it is on the disk.
    func store(_ text: String, for key: CacheKey) async throws {
        update(key) { _ in Data(text.utf8) }
        try await finishWrites()
    }
}

/// Opens a gate when the last reference to it is released.
private final class ReleaseSignal: Sendable {
    let gate = Gate("the end of a change")

    deinit { gate.open() }
}

extension Gate {
    /// Blocks a storage's own thread, as a slow disk does.
    func block() { try? wait() }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
public import ApiConnectorTraffic
public import Crypto
import Foundation

extension SharedCacheStorage {
    /// Makes a storage that encrypts and authenticates its records in the shared state with AES-GCM (NIST SP 800-38D).
    ///
    /// A record that was encrypted with another key, or was changed in the store, is a miss.
    ///
    /// - Parameters:
    ///   - name: The cache's name, which is the same for all instances; it must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state with the records.
    ///   - key: A key of 256 bits, which all instances have and the store does not have. The keys for records and
    ///     digests are derived from it with HKDF (RFC 5869).
    ///   - memory: The first level; 16 MiB by default.
    ///   - lifetime: How long the shared state keeps a record that does not change; 1 day by default.
    ///   - refreshInterval: How long a record in memory is used before it is compared with the record in the shared
    ///     state; 10 seconds by default.
    public convenience init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        encryptedWith key: SymmetricKey,
        memory: MemoryCacheStorage = MemoryCacheStorage(),
        lifetime: Duration = .seconds(86_400),
        refreshInterval: Duration = .seconds(10)
    ) {
        func derived(_ use: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                info: Data("ApiConnector cache \(use)".utf8),
                outputByteCount: 32
            )
        }
        let recordKey = derived("records")
        self.init(
            named: name,
            namespace: namespace,
            in: state,
            digestKey: derived("digests").withUnsafeBytes { Data($0) },
            sealedBy: { data in
                guard let combined = try AES.GCM.seal(data, using: recordKey).combined else {
                    throw CryptoKitError.incorrectParameterSize
                }
                return combined
            },
            openedBy: { data in try AES.GCM.open(AES.GCM.SealedBox(combined: data), using: recordKey) },
            memory: memory,
            lifetime: lifetime,
            refreshInterval: refreshInterval
        )
    }
}

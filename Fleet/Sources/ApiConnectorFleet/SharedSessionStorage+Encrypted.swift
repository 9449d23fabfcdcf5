// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnectorTraffic
public import Crypto
import Foundation

extension SharedSessionStorage {
    /// Storage in the shared state, encrypted and authenticated with AES-GCM (NIST SP 800-38D).
    ///
    /// A refresh fails if the stored data was encrypted with another key or for another purpose, or was changed since.
    ///
    /// - Parameters:
    ///   - key: A key of 128, 192 or 256 bits. All instances have the key, but the store must not have it.
    ///   - purpose: The purpose of the session, such as the account's name. It is authenticated, but not stored.
    public static func encrypted(with key: SymmetricKey, for purpose: String = "") -> SharedSessionStorage {
        let purpose = Data(purpose.utf8)
        return .sealed { data in
            let box = try AES.GCM.seal(data, using: key, authenticating: purpose)
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return combined
        } opened: { data in
            try AES.GCM.open(AES.GCM.SealedBox(combined: data), using: key, authenticating: purpose)
        }
    }
}

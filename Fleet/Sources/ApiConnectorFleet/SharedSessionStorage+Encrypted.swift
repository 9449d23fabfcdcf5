// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnectorTraffic
public import Crypto
import Foundation

extension SharedSessionStorage {
    /// The shared state keeps the session encrypted and authenticated, by AES-GCM (NIST SP 800-38D).
    ///
    /// What was encrypted with another key or for another purpose, or was changed since, fails the refresh.
    ///
    /// - Parameters:
    ///   - key: A key of 128, 192 or 256 bits, which all instances have and the store does not.
    ///   - purpose: What the session is for, such as the account's name; it is authenticated and not stored.
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

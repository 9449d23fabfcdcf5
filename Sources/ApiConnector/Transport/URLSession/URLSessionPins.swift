// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if canImport(Security)
import CryptoKit
import Security
#endif

/// The pinned keys, of which a server must have one; checks the server's key in a session's challenge.
struct URLSessionPins: Sendable {
    let keys: Set<PublicKeyPin>

    /// The reason for rejecting a server with another key.
    static let isNotPinned = "the server's key is not in pinnedPublicKeys"

    /// Advice on a reason for rejecting a server; nil to use the kind's advice.
    func advice(about reason: String) -> String? {
        reason == Self.isNotPinned ? Self.nextStep : nil
    }

    /// The advice of both transports.
    static let nextStep = "If the server has a new key, add its pin to pinnedPublicKeys."

    /// Why a server is rejected; nil if it is not, or for another kind of challenge.
    ///
    /// R5: Foundation on Linux never sends a challenge about a server's key, so keys cannot be pinned there.
    func refusal(of challenge: URLAuthenticationChallenge) -> String? {
        #if canImport(Security)
        guard !keys.isEmpty, let trust = challenge.protectionSpace.serverTrust else { return nil }
        // A pin does not replace a valid certificate, and the key is only available after this evaluation.
        guard SecTrustEvaluateWithError(trust, nil) else { return "the server's certificate is not trusted" }
        guard let key = SecTrustCopyKey(trust), let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
            let info = SubjectPublicKeyInfo(externalRepresentation: bytes),
            let pin = PublicKeyPin(sha256: Data(SHA256.hash(data: info.der)).base64EncodedString())
        else { return "the server's public key is of a kind that cannot be pinned" }
        return keys.contains(pin) ? nil : Self.isNotPinned
        #else
        return nil
        #endif
    }
}

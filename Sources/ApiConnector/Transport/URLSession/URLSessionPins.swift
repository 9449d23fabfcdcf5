// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if canImport(Security)
import CryptoKit
import Security
#endif

/// The public keys of which a server has to have one, and what a session's question about a server is answered with.
struct URLSessionPins: Sendable {
    let keys: Set<PublicKeyPin>

    /// Why a server is refused whose key is another one.
    static let isNotPinned = "the server's key is not in pinnedPublicKeys"

    /// What to do about a reason to refuse a server; nil for what the kind advises.
    func advice(about reason: String) -> String? {
        reason == Self.isNotPinned ? Self.nextStep : nil
    }

    /// The same over either transport.
    static let nextStep = "If the server has a new key, add its pin to pinnedPublicKeys."

    /// Why a server is refused; nil where it is not, or where the question is another one.
    ///
    /// R5: Foundation on Linux never asks about a server's key; there nothing can be pinned.
    func refusal(of challenge: URLAuthenticationChallenge) -> String? {
        #if canImport(Security)
        guard !keys.isEmpty, let trust = challenge.protectionSpace.serverTrust else { return nil }
        // A pin is no substitute for a valid certificate, and the key can be asked for only after this.
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

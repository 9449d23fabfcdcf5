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

/// How a provider responds to authentication challenges that are not about pinned keys.
struct URLSessionChallenges: Sendable {
    typealias Handler =
        @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    enum Answer {
        case credential(URLCredential)
        case handler(Handler)
        /// The delegate of a user's session, or else the system.
        case session
    }

    /// The client certificate; nil for none.
    var clientCredential: URLCredential?

    /// The user's handler; nil for none.
    var handler: Handler?

    /// Chooses who responds to a challenge.
    ///
    /// - Parameter failureCount: How often the server has rejected a credential. A certificate is not offered again.
    func answer(to space: URLProtectionSpace, failureCount: Int) -> Answer {
        if let clientCredential, failureCount == 0, space.authenticationMethod == Self.clientCertificate {
            return .credential(clientCredential)
        }
        return handler.map { .handler($0) } ?? .session
    }

    /// The authentication method of a challenge for a client certificate.
    static var clientCertificate: String {
        #if canImport(FoundationNetworking)
        // Foundation on Linux never requests one, and has no constant for it.
        "NSURLAuthenticationMethodClientCertificate"
        #else
        NSURLAuthenticationMethodClientCertificate
        #endif
    }
}

extension URLProtectionSpace {
    /// Whether the server requests a user name and a password, as opposed to TLS requesting trust in a certificate.
    var isHTTPAuthentication: Bool {
        [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(authenticationMethod)
    }
}

extension URLSession {
    /// Passes a challenge to the delegate of a user's session.
    ///
    /// For a challenge about a connection, the system first calls the session-level method of a delegate, then the
    /// task-level method.
    ///
    /// - Returns: False if the delegate is the provider's own, or handles no challenges; `completion` is then not
    ///   called.
    func asksItsDelegate(
        about challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        guard let delegate, !(delegate is URLSessionForwarder) else { return false }
        if !challenge.protectionSpace.isHTTPAuthentication {
            let answer: Void? = delegate.urlSession?(self, didReceive: challenge, completionHandler: completion)
            if answer != nil { return true }
        }
        guard let asked = delegate as? any URLSessionTaskDelegate else { return false }
        let answer: Void? = asked.urlSession?(self, task: task, didReceive: challenge, completionHandler: completion)
        return answer != nil
        #endif
    }
}

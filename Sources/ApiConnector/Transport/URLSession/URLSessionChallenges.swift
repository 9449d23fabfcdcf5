// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a provider answers authentication challenges about which pinned keys say nothing.
struct URLSessionChallenges: Sendable {
    typealias Handler =
        @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    enum Answer {
        case credential(URLCredential)
        case handler(Handler)
        /// The delegate of a user's session, else the system.
        case session
    }

    /// The client's certificate; nil for none.
    var clientCredential: URLCredential?

    /// The user's own answers; nil for none.
    var handler: Handler?

    /// Says who answers.
    ///
    /// - Parameter failureCount: How often the server refused a credential. A certificate is not offered again.
    func answer(to space: URLProtectionSpace, failureCount: Int) -> Answer {
        if let clientCredential, failureCount == 0, space.authenticationMethod == Self.clientCertificate {
            return .credential(clientCredential)
        }
        return handler.map { .handler($0) } ?? .session
    }

    /// The method of a challenge for a client's certificate.
    static var clientCertificate: String {
        #if canImport(FoundationNetworking)
        // Foundation on Linux never asks for one, and has no name for it.
        "NSURLAuthenticationMethodClientCertificate"
        #else
        NSURLAuthenticationMethodClientCertificate
        #endif
    }
}

extension URLProtectionSpace {
    /// Whether the server asks for a name and a password, and not TLS for trust in a certificate.
    var isHTTPAuthentication: Bool {
        [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(authenticationMethod)
    }
}

extension URLSession {
    /// Asks the delegate of a user's session about a challenge.
    ///
    /// The system asks a session's delegate about a connection first by its own method, then by the task's.
    ///
    /// - Returns: False if the delegate is the provider's own, or answers no challenges; then `completion` is not called.
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

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Which object answers an authentication challenge.
struct URLSessionChallengesTests {
    private enum Answerer: Equatable {
        case credential, handler, session
    }

    private static let credential = URLCredential(user: "ted", password: "tea", persistence: .none)

    private func answerer(
        _ challenges: URLSessionChallenges,
        _ method: String,
        failureCount: Int = 0
    ) -> Answerer {
        let space = URLProtectionSpace(
            host: "example.com",
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: method
        )
        switch challenges.answer(to: space, failureCount: failureCount) {
        case .credential(let credential):
            #expect(credential === Self.credential)
            return .credential
        case .handler: return .handler
        case .session: return .session
        }
    }

    @Test func offersTheCertificateOnceToAServerThatAsksForOne() {
        let challenges = URLSessionChallenges(clientCredential: Self.credential)
        #expect(answerer(challenges, URLSessionChallenges.clientCertificate) == .credential)
        #expect(answerer(challenges, URLSessionChallenges.clientCertificate, failureCount: 1) == .session)
        #expect(answerer(challenges, NSURLAuthenticationMethodHTTPBasic) == .session)
    }

    @Test func asksTheUsersHandlerAboutEverythingElse() {
        let challenges = URLSessionChallenges(clientCredential: Self.credential) { _ in (.performDefaultHandling, nil) }
        #expect(answerer(challenges, URLSessionChallenges.clientCertificate) == .credential)
        #expect(answerer(challenges, URLSessionChallenges.clientCertificate, failureCount: 1) == .handler)
        #expect(answerer(challenges, NSURLAuthenticationMethodHTTPBasic) == .handler)
        #expect(answerer(challenges, "NSURLAuthenticationMethodServerTrust") == .handler)
    }

    @Test func leavesTheRestToTheSession() {
        #expect(answerer(URLSessionChallenges(), URLSessionChallenges.clientCertificate) == .session)
        #expect(answerer(URLSessionChallenges(), NSURLAuthenticationMethodHTTPDigest) == .session)
    }
}

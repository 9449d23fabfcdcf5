// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Backends
import Foundation
import Testing

/// How to test a client whose backend wraps its responses, as in the blog post on a simple API client: one endpoint
/// with two methods, common header fields, and errors with status 200.
@Suite(.scripted) struct ErrorsInA200 {
    private let ada = User(userId: "42", name: "Ada", email: "ada@example.com", description: "Counts")

    private let script = Script(for: UserRouter.self, in: .sample("users"))

    private var users: UserConnection<some DataRequestType> {
        UserConnection(environment: script.environment, provider: TestConnector(script))
    }

    @Test func readsTheUserInTheEnvelope() async throws {
        script.on(.userInfo(id: "42")).answer(ada)

        let user = try await users.userInfo(id: "42").get()

        #expect(user == ada)
    }

    @Test func sendsTheUserAsJSON() async throws {
        script.on(.updateUserInfo(ada)).answer(ada)

        let user = try await users.updateUserInfo(ada).get()

        #expect(user == ada)
        let sent = try #require(script.requests.first)
        #expect(sent.method == .put)
        #expect(sent.url.path() == "/users/user/42")
        #expect(sent.headers[.contentType] == "application/json")
        #expect(try sent.json(as: User.self) == ada)
    }

    @Test func anErrorInA200IsAnError() async throws {
        script.on(.userInfo(id: "7")).answer(failure: CodedFailure(code: 1001, message: "There is no user 7."))

        let outcome = await users.userInfo(id: "7")

        guard case .backendFailure(let failure, let head) = outcome else {
            Issue.record("unexpected outcome: \(outcome)")
            return
        }
        #expect(failure == CodedFailure(code: 1001, message: "There is no user 7."))
        #expect(head.status == 200)
    }

    @Test func getThrowsTheBackendsError() async throws {
        script.on(.userInfo(id: "7")).answer(failure: CodedFailure(code: 1001, message: "There is no user 7."))

        let error = await #expect(throws: ApiConnectorError.self) { try await users.userInfo(id: "7").get() }

        #expect(error?.kind == .backendFailure)
        #expect(error?.failure(as: CodedFailure.self)?.code == 1001)
    }

    @Test func aCallsHeaderFieldsAreLaidOverTheCommonOnes() async throws {
        script.on(.updateUserInfo(ada)).answer(ada)

        let headers: HTTPHeaders = ["User-Agent": "demo-test", "X-Reason": "moved"]
        let outcome = await users.updateUserInfo(ada, headers: headers)

        #expect(try outcome.get() == ada)
        let sent = try #require(script.requests.first)
        #expect(sent.headers[.accept] == "application/json")
        #expect(sent.headers[.userAgent] == "demo-test")
        #expect(sent.headers["X-Reason"] == "moved")
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Backends
import Foundation
import Testing

/// How to test a client whose backend wraps its answers, as in the post on a simple API client (seed 000): one endpoint
/// with two methods, common header fields, and errors that come with status 200.
@Suite struct ErrorsInA200 {
    private let ada = User(userId: "42", name: "Ada", email: "ada@example.com", description: "Counts")

    private func users(
        _ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse
    ) -> UserConnection<some DataRequestType> {
        UserConnection(environment: .sample("users"), provider: TestConnector(answer))
    }

    @Test func readsTheUserInTheEnvelope() async throws {
        let users = users { [ada] _ in .json(["data": ada]) }

        let user = try await users.userInfo(id: "42").get()

        #expect(user == ada)
    }

    @Test func sendsTheUserAsJSON() async throws {
        let users = users { [ada] request in
            #expect(request.method == .put)
            #expect(request.url.path() == "/users/user/42")
            #expect(request.headers[.contentType] == "application/json")
            let sent = try JSONDecoder().decode(User.self, from: request.body.data())
            #expect(sent == ada)
            return .json(["data": ada])
        }

        let user = try await users.updateUserInfo(ada).get()

        #expect(user == ada)
    }

    @Test func anErrorInA200IsAnError() async throws {
        let users = users { _ in .json(["error": CodedFailure(code: 1001, message: "There is no user 7.")]) }

        let outcome = await users.userInfo(id: "7")

        guard case .errors(let failure, let head) = outcome else {
            Issue.record("It came to \(outcome)")
            return
        }
        #expect(failure == CodedFailure(code: 1001, message: "There is no user 7."))
        #expect(head.status == 200)
    }

    @Test func getThrowsTheBackendsError() async throws {
        let users = users { _ in .json(["error": CodedFailure(code: 1001, message: "There is no user 7.")]) }

        let error = await #expect(throws: ApiConnectorError.self) { try await users.userInfo(id: "7").get() }

        #expect(error?.kind == .backendFailure)
        #expect(error?.failure(as: CodedFailure.self)?.code == 1001)
    }

    @Test func aCallsHeaderFieldsAreLaidOverTheCommonOnes() async throws {
        let users = users { [ada] request in
            #expect(request.headers[.accept] == "application/json")
            #expect(request.headers[.userAgent] == "demo-test")
            #expect(request.headers["X-Reason"] == "moved")
            return .json(["data": ada])
        }

        let headers: HTTPHeaders = ["User-Agent": "demo-test", "X-Reason": "moved"]
        let outcome = await users.updateUserInfo(ada, headers: headers)

        #expect(try outcome.get() == ada)
    }
}

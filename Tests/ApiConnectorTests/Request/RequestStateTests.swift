// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import ApiConnector

/// The library's own part of a request.
struct RequestStateTests {
    private let url = URL(filePath: "/")

    private func request() -> ApiRequest {
        var request = ApiRequest(url: URL(string: "http://127.0.0.1/a") ?? url)
        request.timeouts = Timeouts(attempt: .seconds(1))
        return request
    }

    @Test func aWrapperThatChangesWhatIsSentDoesNotCopyTheState() {
        let request = request()
        var copy = request
        copy.url = URL(string: "http://127.0.0.1/b") ?? url
        copy.method = .post
        copy.headers["a"] = "b"
        copy.body = .text("c")
        copy.attempt = 2
        #expect(copy.state.isCopy(of: request.state))
    }

    @Test func aChangeOfACopyLeavesTheOriginalUnchanged() {
        let request = request()
        var copy = request
        copy.timeouts = Timeouts(stall: .seconds(2))
        copy.addSecretNames(headerNames: ["X-Mine"])
        copy.beginNextAttempt(after: .failure(ApiConnectorError(.timedOut, "")), duration: .seconds(1))
        #expect(request.timeouts == Timeouts(attempt: .seconds(1)))
        #expect(request.ownSecrets == nil)
        #expect(request.earlierAttempts.isEmpty)
        #expect(copy.timeouts == Timeouts(stall: .seconds(2)))
        #expect(copy.ownSecrets != nil)
        #expect(copy.earlierAttempts.count == 1)
    }

    @Test func aValueThatIsSetAgainDoesNotCopyTheState() {
        var request = request()
        request.beginCall()
        var copy = request
        copy.beginCall()
        copy.joinCall(of: request)
        copy.joinObservers(of: request)
        copy.forgetAttempts()
        #expect(copy.state.isCopy(of: request.state))
        #expect(copy.detached().state.isCopy(of: request.state))
    }

    @Test func theTimeLimitsOfAnAttemptLeaveTheStateOfTheResponseUnchanged() async throws {
        let request = request()
        let response = try await request.withTimeLimits { (sent) throws(ApiConnectorError) in
            #expect(!sent.state.isCopy(of: request.state))
            return ApiResponse(to: sent, status: 200)
        }
        #expect(response.request.state.isCopy(of: request.state))
    }
}

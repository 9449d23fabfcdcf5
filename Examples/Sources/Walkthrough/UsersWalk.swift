// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

extension Walk {
    /// Walks through the users of the blog post on a simple API client: one endpoint, two methods, and errors with
    /// status 200.
    package func users(_ environment: BackendEnvironment, over provider: some DataRequestType) async {
        let users = UserConnection(
            environment: environment,
            provider: JournalingProvider(provider, journal: journal)
        )
        begin("The users", at: environment)

        let ada = await step {
            try await users.userInfo(id: "42").get()
        } check: { user in
            try expect(user.name, is: "Ada", "the name")
            return "\(user.name), \(user.email)"
        }
        if var ada {
            ada.email = "countess@example.com"
            await step { [ada] in
                try await users.updateUserInfo(ada, headers: ["X-Reason": "moved"]).get()
            } check: { user in
                try expect(user.email, is: "countess@example.com", "the e-mail address")
                return "\(user.name), now \(user.email)"
            }
        } else {
            skip("Changing a user")
        }
        await step {
            await users.userInfo(id: "7")
        } check: { outcome in
            guard case .backendFailure(let failure, let head) = outcome else { throw Unexpected(of: outcome) }
            try expect(head.status, is: 200, "the status")
            try expect(failure.code, is: 1001, "the code")
            return "an error in a 200: \(failure.code), \(failure.message)"
        }
        await failingStep {
            let user = User(userId: "42", name: "Ada", email: "nowhere")
            return try await users.value(User.self, at: .updateUserInfo(user))
        } check: { error in
            try expect(error.kind, is: .backendFailure, "the kind of error")
            try expect(error.failure(as: CodedFailure.self)?.code, is: 1003, "the code")
            return "refused, as expected; the error:"
        }
    }
}

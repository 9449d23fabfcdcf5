// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation
import Synchronization

/// The users of the blog post on a simple API client: one endpoint, two methods, and an envelope in every response.
///
/// As in such backends, errors have status 200. Only the envelope shows that they are errors.
final class UsersBackend: Backend {
    private struct User: Codable {
        let userId: String
        let name: String
        let email: String
        let description: String?
    }

    private struct Failure: Encodable {
        let code: Int
        let message: String
    }

    private let users = Mutex(["42": User(userId: "42", name: "Ada", email: "ada@example.com", description: "Counts")])

    func answer(_ call: Call) async throws -> HTTPResponse {
        guard call.path.count == 2, call.path.first == "user", let id = call.path.last else {
            return try failure(1000, "There is no such endpoint.", .notFound)
        }
        switch call.method {
        case "GET":
            guard let user = users.withLock({ $0[id] }) else { return try failure(1001, "There is no user \(id).") }
            return try .json(["data": user])
        case "PUT":
            let user = try call.json(User.self)
            guard user.userId == id else { return try failure(1002, "The id in the body is not the path's.") }
            guard user.email.contains("@") else {
                return try failure(1003, "“\(user.email)” is not an e-mail address.")
            }
            users.withLock { $0[id] = user }
            return try .json(["data": user])
        default:
            return try failure(1000, "There is no such method.", .methodNotAllowed)
        }
    }

    private func failure(_ code: Int, _ message: String, _ status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        try .json(["error": Failure(code: code, message: message)], status)
    }
}

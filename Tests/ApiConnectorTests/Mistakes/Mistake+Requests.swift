// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

extension Mistake {
    /// As a Moya target may be written.
    private struct Untyped: ApiRouter {
        typealias EnvironmentType = Place

        let path = "/me"
        var headers: [String: any Sendable]? = ["X-Page": 1]
    }

    private static func refusal<Path: ApiPathConvertible & Sendable>(
        of route: Endpoint<Path>,
        in place: Place = Place()
    ) throws -> String {
        let request: ApiRequest
        do throws(ApiConnectorError) {
            request = try route.request(in: place)
        } catch {
            return error.description
        }
        throw UnexpectedSuccess(description: "\(request)")
    }

    /// Mistakes in a router or an environment; nothing is sent.
    static let requests = [
        Mistake("a URL as host", says: "set scheme, port and path in their own properties") {
            try refusal(of: Endpoint("/me"), in: Place(host: "https://api.example.com/v1"))
        },
        Mistake("headers of another type", says: "its property headers has the type") {
            let api = NetworkConnector(environment: Place(), provider: SystemProvider(), router: Untyped.self)
            return try await failure { () throws(ApiConnectorError) in try await api.send(at: Untyped()) }.description
        },
        Mistake("an empty value in the path", says: "write \\(allowingEmpty:) if that is intended") {
            let owner = ""
            return try refusal(of: Endpoint("/repos/\(owner)/tags"))
        },
        Mistake("an empty value in a text path", says: "declare path as ApiPath") {
            let owner = ""
            return try refusal(of: Endpoint(path: "/repos/\(owner)/tags"))
        },
        Mistake("a relative path", says: "which servers resolve to another path") {
            try refusal(of: Endpoint("/posts/../me"))
        },
        Mistake("a body without a method", says: "set its method, or set allowsBodyInGet") {
            try refusal(of: Endpoint(path: "/posts", body: .json(["title": "Tea"])))
        },
        Mistake("a content type for a form with files", says: "leave the field out, the body has its own type") {
            try refusal(
                of: Endpoint(
                    path: "/files",
                    method: .post,
                    headers: ["Content-Type": "multipart/form-data"],
                    body: .multipart([.text("a", name: "b")])
                )
            )
        },
        Mistake("a content length", says: "leave the field out") {
            try refusal(
                of: Endpoint(path: "/", method: .post, headers: ["Content-Length": "9"], body: .text("tea"))
            )
        },
        Mistake("a line's end after a token from a file", says: "Authorization") {
            try refusal(of: Endpoint(path: "/me", headers: ["Authorization": "Bearer hush\n"]))
        },
    ]
}

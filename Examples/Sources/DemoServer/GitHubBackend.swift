// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation

/// A part of GitHub's REST API.
///
/// It requires a `User-Agent`. It has pages with `Link` fields, entity tags, a rate limit, and assets for which it
/// redirects to another host.
actor GitHubBackend: Backend {
    private var assets: [Int: Data] = [:]
    private var refusedCount = 0

    func answer(_ call: Call) async throws -> HTTPResponse {
        // The storage of assets is on another host and refuses tokens.
        if call.path.first == "storage" { return storedAsset(call) }
        guard call.userAgent?.isEmpty == false else {
            return refusal(
                "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
                .forbidden
            )
        }
        guard call.authorization == "Bearer t0ken" else { return refusal("Bad credentials", .unauthorized) }
        guard call.path.count >= 4, call.path.first == "repos" else { return refusal("Not Found", .notFound) }
        switch (call.method, Array(call.path.dropFirst(3))) {
        case ("GET", ["issues"]): return try issues(call)
        case ("POST", ["issues"]): return try create(call)
        case ("POST", ["releases", "assets"]): return try upload(call)
        case ("GET", let path) where path.count == 3 && path[1] == "assets":
            let location = "http://localhost:\(call.port)/github/storage/\(path[2])"
            return HTTPResponse(statusCode: .found, headers: HTTPHeaders([.location: location]))
        default: return refusal("Not Found", .notFound)
        }
    }

    /// Five issues, two per page.
    private func issues(_ call: Call) throws -> HTTPResponse {
        let since = call.query.first { $0.name == "since" }?.value
        // The first request for a repository of this name exceeds the rate limit.
        if call.path.contains("busy"), refusedCount < 1 {
            refusedCount += 1
            return refusal("You have exceeded a secondary rate limit.", .forbidden, ["Retry-After": "0"])
        }
        let size = call.number("per_page") ?? 30
        let page = call.number("page") ?? 1
        let tag = "\"issues-\(page)\""
        var headers: HTTPHeaders = [HTTPHeader("ETag"): tag, HTTPHeader("Cache-Control"): "private, max-age=0"]
        if call.ifNoneMatch == tag { return HTTPResponse(statusCode: .notModified, headers: headers) }
        let numbers = (1...5).dropFirst((page - 1) * size).prefix(size)
        if let last = numbers.last, last < 5 {
            let segments = call.path.map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? $0 }
            let path = "/github/" + segments.joined(separator: "/")
            let next = "http://127.0.0.1:\(call.port)\(path)?per_page=\(size)&page=\(page + 1)"
            headers[HTTPHeader("Link")] = "<\(next)>; rel=\"next\""
        }
        let issues = numbers.map { number in
            Issue(number: number, title: since.map { "Since \($0)" } ?? "Issue \(number)")
        }
        return try .json(issues, headers: headers)
    }

    private func create(_ call: Call) throws -> HTTPResponse {
        struct Draft: Decodable {
            let title: String
            let due_on: String?
        }
        let draft = try call.json(Draft.self)
        guard !draft.title.isEmpty else { return refusal("Validation Failed", .unprocessableContent) }
        return try .json(
            Issue(number: 6, title: draft.due_on.map { "\(draft.title) by \($0)" } ?? draft.title),
            .created
        )
    }

    private func upload(_ call: Call) throws -> HTTPResponse {
        struct Asset: Encodable {
            let id: Int
            let name: String
            let size: Int
            let content_type: String
        }
        let id = assets.count + 1
        assets[id] = call.body
        let name = call.query.first { $0.name == "name" }?.value ?? ""
        return try .json(
            Asset(id: id, name: name, size: call.body.count, content_type: "application/octet-stream"),
            .created
        )
    }

    private func storedAsset(_ call: Call) -> HTTPResponse {
        guard call.authorization == nil else { return refusal("Only one auth mechanism allowed", .badRequest) }
        guard let data = call.path.last.flatMap({ Int($0) }).flatMap({ assets[$0] }) else {
            return refusal("Not Found", .notFound)
        }
        return HTTPResponse(
            statusCode: .ok,
            headers: HTTPHeaders([.contentType: "application/octet-stream"]),
            body: data
        )
    }

    private func refusal(_ text: String, _ status: HTTPStatusCode, _ fields: [String: String] = [:]) -> HTTPResponse {
        struct Refusal: Encodable {
            let message: String
            let documentation_url = "https://docs.github.com/rest"
        }
        var headers: HTTPHeaders = [:]
        for (name, value) in fields { headers[HTTPHeader(name)] = value }
        return (try? .json(Refusal(message: text), status, headers: headers)) ?? HTTPResponse(statusCode: status)
    }

    private struct Issue: Encodable {
        struct User: Encodable {
            let login = "ada"
            let avatar_url = "https://avatars.example.com/ada.png"
        }

        let number: Int
        let title: String
        let created_at = "2026-01-31T12:00:00Z"
        let user = User()
    }
}

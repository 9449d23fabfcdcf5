// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Foundation

/// A part of GitHub's REST API: pages of issues, creating an issue, uploading and downloading a release asset.
package enum GitHubRouter: ApiRouter {
    package typealias EnvironmentType = GitHubEnvironment
    package typealias EnvelopeType = BareEnvelope<GitHubFailure>

    case issues(of: Repository, since: Date? = nil)
    case createIssue(in: Repository, IssueDraft)
    case uploadAsset(to: Repository, name: String, file: URL)
    case asset(of: Repository, id: Int)

    package var path: ApiPath {
        switch self {
        case .issues(let repository, _), .createIssue(let repository, _):
            "/repos/\(repository.owner)/\(repository.name)/issues"
        case .uploadAsset(let repository, _, _): "/repos/\(repository.owner)/\(repository.name)/releases/assets"
        case .asset(let repository, let id): "/repos/\(repository.owner)/\(repository.name)/releases/assets/\(id)"
        }
    }

    package var queryItems: ApiQuery {
        switch self {
        case .issues(_, let since?): ["per_page": 2, "since": since]
        case .issues(_, nil): ["per_page": 2]
        case .uploadAsset(_, let name, _): ["name": name]
        case .createIssue, .asset: .empty
        }
    }

    package var method: HTTPMethod {
        switch self {
        case .issues, .asset: .get
        case .createIssue, .uploadAsset: .post
        }
    }

    package var body: RequestBody {
        switch self {
        case .createIssue(_, let draft): .json(draft)
        case .uploadAsset(_, _, let file): .file(file)
        case .issues, .asset: .empty
        }
    }

    package var headers: HTTPHeaders {
        if case .asset = self { [.accept: "application/octet-stream"] } else { HTTPHeaders() }
    }
}

/// The environment of GitHub's API: the demo's server.
package struct GitHubEnvironment: ApiEnvironment {
    package let location: ServerLocation

    package var host: String { location.host }
    package var port: Int? { location.port }
    package var basePath: String { "/github" }
    package var defaultHeaders: HTTPHeaders {
        [.accept: "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"]
    }

    package init(_ location: ServerLocation) {
        self.location = location
    }
}

extension ConnectionConfiguration {
    /// GitHub's JSON: dates in ISO 8601, keys in snake_case.
    package static let gitHub = ConnectionConfiguration(json: JSONCoding(dates: .iso8601, keys: .snakeCase))
}

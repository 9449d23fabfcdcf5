// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Backends
import DemoServer
import Foundation
import Testing

/// A client of GitHub's API, with pages, entity tags, an upload, a download through a redirect, and a rate limit.
struct GitHubClient {
    private let repository = Repository(owner: "ada", name: "tea / café")

    /// The provider for a client of GitHub.
    private func api(
        _ url: URL,
        token: String = "t0ken"
    ) throws -> NetworkConnector<some DataRequestType, GitHubRouter> {
        NetworkConnector(
            environment: GitHubEnvironment(try #require(ServerLocation(url))),
            provider: SystemProvider()
                .standard(RetryPolicy(initialDelay: .zero, throttlingDelay: .zero), cachedIn: MemoryCacheStorage())
                .authenticating(by: .fixed(.bearer(token))),
            router: GitHubRouter.self,
            configuration: .gitHub
        )
    }

    @Test func readsIssuesPageByPage() async throws {
        try await DemoServer.run { url in
            var issues: [GitHubIssue] = []
            for try await issue in try api(url).pages(of: [GitHubIssue].self, from: .issues(of: repository)).elements {
                issues.append(issue)
            }
            #expect(issues.map(\.number) == [1, 2, 3, 4, 5])
            #expect(issues.first?.createdAt == Date(timeIntervalSince1970: 1_769_860_800))
            #expect(issues.first?.user.avatarUrl.path == "/ada.png")
        }
    }

    @Test func asksWithTheEntityTagTheSecondTime() async throws {
        try await DemoServer.run { url in
            let api = try api(url)
            let first = try await api.response(of: [GitHubIssue].self, at: .issues(of: repository))
            let second = try await api.response(of: [GitHubIssue].self, at: .issues(of: repository))
            #expect(first.cacheHit == nil && second.cacheHit == .validated)
            #expect(first.value == second.value)
        }
    }

    @Test func writesADateInTheQueryAsInTheBody() async throws {
        let date = Date(timeIntervalSince1970: 1_769_860_800)
        try await DemoServer.run { url in
            let api = try api(url)
            let issues = try await api.value([GitHubIssue].self, at: .issues(of: repository, since: date))
            #expect(issues.first?.title == "Since 2026-01-31T12:00:00Z")
            let draft = IssueDraft(title: "Tea", dueOn: date)
            let issue = try await api.value(GitHubIssue.self, at: .createIssue(in: repository, draft))
            #expect(issue.title == "Tea by 2026-01-31T12:00:00Z")
        }
    }

    @Test func tellsGitHubsOwnErrors() async throws {
        try await DemoServer.run { url in
            let refused = await #expect(throws: ApiConnectorError.self) {
                try await api(url).send(at: .createIssue(in: repository, IssueDraft(title: "")))
            }
            #expect(refused?.failure(as: GitHubFailure.self)?.message == "Validation Failed")
            let unknown = await #expect(throws: ApiConnectorError.self) {
                try await api(url, token: "wrong").send(at: .issues(of: repository))
            }
            #expect(unknown?.response?.status == 401)
            #expect(unknown?.failure(as: GitHubFailure.self)?.message == "Bad credentials")
        }
    }

    @Test func waitsAfterARateLimit() async throws {
        try await DemoServer.run { url in
            let response = try await api(url).response(
                of: [GitHubIssue].self,
                at: .issues(of: Repository(owner: "ada", name: "busy"))
            )
            #expect(response.value.count == 2)
        }
    }

    @Test func uploadsAnAssetAndDownloadsItThroughARedirectToAnotherHost() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "source")
        try Archive.bytes(0..<100_000).write(to: source)
        try await DemoServer.run { url in
            let api = try api(url)
            let asset = try await api.value(
                Asset.self,
                at: .uploadAsset(to: repository, name: "tea & café.bin", file: source)
            )
            #expect(
                asset == Asset(id: 1, name: "tea & café.bin", size: 100_000, contentType: "application/octet-stream")
            )
            // The storage refuses a request that has the token.
            let done = try await api.download(
                at: .asset(of: repository, id: asset.id),
                to: folder.appending(path: "copy")
            ).file()
            #expect(done.head.url.host() == "localhost")
            #expect(try Data(contentsOf: done.file) == Archive.bytes(0..<100_000))
        }
    }

    /// The same client with a script.
    ///
    /// The formats of dates and keys are declared only once.
    @Test func isTestedByAScript() async throws {
        let environment = GitHubEnvironment(ServerLocation(host: "github.test", port: 80))
        let script = Script(for: GitHubRouter.self, in: environment)
        let issue = GitHubIssue(
            number: 1,
            title: "Tea",
            createdAt: Date(timeIntervalSince1970: 1_769_860_800),
            user: GitHubIssue.Account(login: "ada", avatarUrl: try #require(URL(string: "https://example.com/ada.png")))
        )
        script.on(.createIssue(in: repository, IssueDraft(title: "Tea", dueOn: issue.createdAt))).answer(
            issue,
            status: 201
        )
        let api = NetworkConnector(
            environment: environment,
            provider: TestConnector(script),
            router: GitHubRouter.self,
            configuration: .gitHub
        )
        let draft = IssueDraft(title: "Tea", dueOn: issue.createdAt)
        #expect(try await api.value(GitHubIssue.self, at: .createIssue(in: repository, draft)) == issue)
        #expect(await script.end().isEmpty)
    }
}

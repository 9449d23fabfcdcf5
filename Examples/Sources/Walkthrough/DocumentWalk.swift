// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import ApiConnectorContracts
import ApiConnectorOpenAPI
import ApiConnectorTesting
import BlogClient
import Foundation

/// The generator of the package OpenAPI.
///
/// Examples does not depend on OpenAPI. Scripts/check builds the programs of all packages in one folder.
package enum BlogGenerator {
    /// The program next to another one; nil if it was not built, or if the sources of the client do not exist.
    package static func url(nextTo program: URL) -> URL? {
        let generator = program.deletingLastPathComponent().appending(path: "apiconnector-openapi")
        let hasSources = FileManager.default.fileExists(atPath: BlogDocument.folder.appending(path: "blog.json").path)
        return hasSources && FileManager.default.isExecutableFile(atPath: generator.path) ? generator : nil
    }
}

extension Walk {
    /// Walks through the blog with a client that was generated from the blog's OpenAPI document.
    ///
    /// First generates the client and compares it with this program's client, if there is a generator. In the end,
    /// checks a canned response that violates the document.
    package func document(
        of server: (host: String, port: Int),
        over provider: some DataRequestType,
        generator: URL? = nil
    ) async {
        let environment = BlogServer(host: server.host, scheme: .http, port: server.port, basePath: "/blog")
        let visitor = NetworkConnector(
            environment: environment,
            provider: JournalingProvider(provider, journal: journal),
            router: BlogRouter.self
        )
        begin("The blog by its OpenAPI document", at: environment)

        if let generator { await generateClient(by: generator) }
        await step {
            try await visitor.value(.listPosts(date: Day(year: 2016, month: 11, day: 21)))
        } check: { posts in
            try expect(posts.map(\.title), is: ["Hello", "Tea / Café"], "the day's titles")
            return posts.map(\.title).joined(separator: ", ")
        }
        let token = await step {
            try await visitor.value(.signIn(body: SignIn(name: "ted", password: "pug")))
        } check: { _ in
            "signed in"
        }
        if let token {
            let ted = NetworkConnector(
                environment: environment,
                provider: JournalingProvider(
                    provider.authenticating(by: BlogCredentials.token(token.token)),
                    journal: journal
                ),
                router: BlogRouter.self
            )
            let draft = Draft(title: "By document", description: "Generated", publishedAt: DateTime(.now))
            await step {
                try await ted.value(.publishPost(body: draft))
            } check: { post in
                try expect(post.slug, is: "by-document", "the slug")
                return "published as \(post.slug)"
            }
        } else {
            skip("Publishing")
        }
        await failingStep {
            try await visitor.value(.getPost(author: "ted", slug: "lost"))
        } check: { error in
            try expect(error.response?.status, is: 404, "the status")
            return "not found, as expected; the error:"
        }
        await refusedResponse(environment)
    }

    /// Generates the client, and compares the files with the client of this program.
    private func generateClient(by generator: URL) async {
        await step {
            func path(_ name: String) -> String { BlogDocument.folder.appending(path: name).path }
            let program = try LaunchedProgram(
                generator.path,
                arguments: [
                    "generate", path("blog.json"), "--config", path("openapi.json"), "--output", path("Generated"),
                    "--check",
                ],
                joinsErrors: true
            )
            let lines = await program.rest()
            return (status: await program.end(), lines: lines)
        } check: { run in
            try expect(run.status, is: 0, "the generator's exit status")
            return "generated from blog.json: " + (run.lines.last ?? "")
        } note: { _ in
            "The result is the same as this program's client."
        }
    }

    /// A canned response that lacks three members required by the document.
    private func refusedResponse(_ environment: BlogServer) async {
        await step {
            try await BlogDocument.withFile { file in
                let contract = try Contract(openAPI: file)
                let script = Script(for: BlogRouter.self, in: environment)
                script.on(matching: .method(.get)).answer(.json([["author": "ted", "slug": 7]]))
                let canned = NetworkConnector(
                    environment: environment,
                    provider: JournalingProvider(TestConnector(script), journal: journal),
                    router: BlogRouter.self
                )
                _ = await canned.outcome(.listPosts())
                contract.check(script)
                return contract.issues.map(\.description)
            }
        } check: { violations in
            try expect(violations.count, is: 4, "the number of violations")
            return "the document refuses a canned response; the last of \(violations.count) violations:"
        } note: { violations in
            violations.last
        }
    }
}

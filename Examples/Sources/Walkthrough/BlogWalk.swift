// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

extension Walk {
    /// Walks through the blog of the README of 2016: sign in, read, publish, and request a post that does not exist.
    package func blog(_ environment: BlogEnvironment, over provider: some DataRequestType) async {
        let blog = BlogConnection(
            environment: environment,
            provider: JournalingProvider(provider, journal: journal)
        )
        begin("The blog", at: environment)
        let day = Date(timeIntervalSince1970: 1_479_686_400)

        let ted = await step {
            try await blog.signedIn(with: Credentials(name: "ted", password: "pug"))
        } check: { _ in
            "signed in as ted"
        }
        if let ted {
            await step {
                try await ted.me()
            } check: { me in
                try expect(me.name, is: "ted", "the name")
                return "\(me.name), \(me.email)"
            }
        } else {
            skip("Reading the user")
        }
        await step {
            try await blog.posts(for: day)
        } check: { posts in
            try expect(posts.map(\.title), is: ["Hello", "Tea / Café"], "the day's titles")
            return "\(posts.count) posts: \(posts.map(\.title).joined(separator: ", "))"
        }
        await step {
            try await blog.post(by: "ted", slug: "tea / café")
        } check: { post in
            try expect(post.slug, is: "tea / café", "the slug")
            return "“\(post.title)”: its slash stayed in its segment"
        }
        if let ted {
            let draft = Draft(title: "From the demo", description: "Hello, blog", publishedAt: day + 86_400 * 7)
            await step {
                try await ted.publish(draft)
            } check: { answer in
                try expect(answer.status, is: 201, "the status")
                try expect(answer.value.title, is: draft.title, "the title")
                try expect(answer.value.publishedAt, is: draft.publishedAt, "the date")
                return "published as \(answer.headers[.location] ?? answer.value.slug)"
            }
        } else {
            skip("Publishing a post")
        }
        await failingStep {
            try await blog.post(by: "ted", slug: "lost")
        } check: { error in
            try expect(error.kind, is: .unacceptableStatus, "the kind of error")
            try expect(error.response?.status, is: 404, "the status")
            return "not found, as expected; the error:"
        }
    }
}

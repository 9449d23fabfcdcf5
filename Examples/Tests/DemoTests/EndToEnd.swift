// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

/// How to test against a real server: run a server on a free port, and use it as the environment.
struct EndToEnd {
    @Test func publishesAPostThatCanBeReadBack() async throws {
        let (published, found) = try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            let blog = BlogConnection<SystemProvider>(environment: .server(location))
            let ted = try await blog.signedIn(with: Credentials(name: "ted", password: "pug"))
            let draft = Draft(title: "A new one", description: "Just now", publishedAt: .sampleDay)

            let answer = try await ted.publish(draft)
            let found = try await blog.post(by: answer.value.author, slug: answer.value.slug)

            #expect(answer.status == 201)
            #expect(answer.headers[.location] == "/blog/authors/ted/posts/a-new-one")
            return (answer.value, found)
        }

        #expect(published.title == "A new one")
        #expect(found == published)
    }

    @Test func refusesAWrongPassword() async throws {
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            let blog = BlogConnection<SystemProvider>(environment: .server(location))

            let error = await #expect(throws: ApiConnectorError.self) {
                try await blog.signedIn(with: Credentials(name: "ted", password: "hunter2"))
            }

            #expect(error?.response?.status == 401)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func theWalkThroughTheBlogIsAsExpected() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.blog(.server(location), over: SystemProvider())
        }

        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 6)
    }

    @Test func theWalkThroughThePugsIsAsExpected() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.pugs(.pugs(on: location), over: SystemProvider())
        }

        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 3)
    }

    @Test func theWalkThroughTheUsersIsAsExpected() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.users(.users(on: location), over: SystemProvider())
        }

        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 4)
    }

    @Test func theWalkThroughTheOrdersIsAsExpected() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.orders(.orders(on: location), over: SystemProvider())
        }

        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 6)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Typical mistakes. `Scripts/check typecheck` compares the compiler's error with the comment above each line.

import ApiConnector
import Foundation

struct Place: ApiEnvironment {
    let host = "api.example.com"
}

enum Blog: ApiRouter {
    typealias EnvironmentType = Place
    case me
    case post(id: Int)

    var path: ApiPath { "/me" }
}

struct Post: Decodable, Sendable {
    let id: Int
}

struct Draft: Sendable {}

func mistakes(_ api: NetworkConnector<SystemProvider, Blog>, _ file: URL) async throws {
    // error: has no member 'mee'
    let _: Post = try await api.value(at: .mee)
    // error: name the value's type, as in value([Post].self, at: .posts)
    let _ = try await api.value(at: .me)
    // error: name the value's type, as in outcome([Post].self, at: .posts)
    _ = await api.outcome(at: .me)
    // error: name the values' type, as in stream(of: Post.self, at: .posts)
    for try await _ in api.stream(at: .me) {}
    // error: name the pages' type, as in pages(of: [Post].self, from: .posts)
    for try await _ in api.pages(from: .me) {}
    // error: has no member 'mee'
    _ = try await api.value(Post.self, at: .mee)
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    _ = try await api.value(Post.self, at: .post(id: "1"))
    // error: missing argument label 'id:' in call
    _ = try await api.value(Post.self, at: .post(1))
    // error: member 'post(id:)' expects argument of type 'Int'
    _ = try await api.value(Post.self, at: .post)
    // error: cannot convert value of type 'Post' to specified type 'Int'
    let _: Int = try await api.value(Post.self, at: .me)
    // error: cannot convert value of type 'String' to expected argument type
    _ = try await api.value(Post.self, at: "me")
    // error: requires that 'Draft' conform to 'Decodable'
    _ = try await api.value(Draft.self, at: .me)
    // error: has no member 'mee'
    _ = try await api.data(at: .mee)
    // error: has no member 'mee'
    try await api.send(at: .mee)
    // error: has no member 'mee'
    _ = api.stream(of: Post.self, at: .mee)
    // error: has no member 'mee'
    _ = api.stream(at: .mee, as: .lines)
    // error: has no member 'mee'
    _ = api.download(at: .mee, to: file)
    // error: has no member 'mee'
    _ = await api.outcome(Post.self, at: .mee)
    // error: has no member 'mee'
    _ = api.pages(of: [Post].self, from: .mee)
}

// Names of products that this file does not import.
func forgottenImports(_ router: Blog.Type, _ file: URL) {
    // error: value of type 'SystemProvider' has no member 'deduplicating'
    _ = SystemProvider().deduplicating()
    // error: cannot find 'MemoryCacheStorage' in scope
    _ = MemoryCacheStorage()
    // error: cannot find 'TestConnector' in scope
    _ = TestConnector { _ in .json("") }
    // error: cannot find 'Script' in scope
    _ = Script(for: router, in: Place())
    // error: cannot find 'ScriptServer' in scope
    _ = try? ScriptServer(Script(for: router, in: Place()))
    // error: value of type 'SystemProvider' has no member 'recording'
    _ = SystemProvider().recording(by: Recorder(file))
    // error: cannot find 'Contract' in scope
    _ = try? Contract(openAPI: file)
    // error: cannot find 'ConformanceTarget' in scope
    _ = ConformanceTarget.transport { SystemProvider() }
}

// error: type 'any DataRequestType' cannot conform to 'DataRequestType'
func storesAnyProvider(_ api: NetworkConnector<any DataRequestType, Blog>) {}

final class ViewModel {
    // error: property declares an opaque return type, but has no initializer expression from which to infer
    let provider: some DataRequestType
    init() {}
}

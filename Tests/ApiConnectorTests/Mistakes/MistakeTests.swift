// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// 32 mistakes of newcomers, each with the text of the compiler or the library.
struct MistakeTests {
    /// The library's text for a mistake that compiles.
    @Test(arguments: Mistake.requests + Mistake.responses + Mistake.tests)
    func theLibraryNamesTheFix(_ mistake: Mistake) async throws {
        let text = try await mistake.text()
        #expect(text.contains(mistake.remedy), "\(text)")
    }

    /// The compiler's text: `Scripts/check typecheck` compiles the file and compares each text.
    @Test(arguments: Mistake.ofTypes) func theCompilersTextIsChecked(_ row: Mistake.OfTypes) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = root.appending(path: "Scripts/mistakes.swift").standardized
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let index = try #require(lines.firstIndex(of: row.code))
        #expect(lines[index - 1] == "// error: \(row.text)")
    }

    @Test func thereAre32() {
        let names = (Mistake.requests + Mistake.responses + Mistake.tests).map(\.testDescription)
        #expect(Set(names).count + Set(Mistake.ofTypes.map(\.code)).count == 32)
    }
}

/// A mistake that compiles.
struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The part of the text that says what is wrong or what to do.
    let remedy: String
    /// Makes the mistake, and returns what a developer then reads.
    let text: @Sendable () async throws -> String

    init(_ name: String, says remedy: String, _ text: @escaping @Sendable () async throws -> String) {
        testDescription = name
        self.remedy = remedy
        self.text = text
    }

    /// A mistake that does not compile.
    struct OfTypes: Sendable, CustomTestStringConvertible {
        let code: String
        let text: String
        var testDescription: String { code }
    }

    static let ofTypes = [
        OfTypes(code: "let _: Post = try await api.value(at: .mee)", text: "has no member 'mee'"),
        OfTypes(
            code: "let _ = try await api.value(at: .me)",
            text: "name the value's type, as in value([Post].self, at: .posts)"
        ),
        OfTypes(
            code: "_ = try await api.value(Post.self, at: .post(id: \"1\"))",
            text: "cannot convert value of type 'String' to expected argument type 'Int'"
        ),
        OfTypes(
            code: "_ = try await api.value(Post.self, at: .post(1))",
            text: "missing argument label 'id:' in call"
        ),
        OfTypes(
            code: "_ = try await api.value(Post.self, at: .post)",
            text: "member 'post(id:)' expects argument of type 'Int'"
        ),
        OfTypes(
            code: "let _: Int = try await api.value(Post.self, at: .me)",
            text: "cannot convert value of type 'Post' to specified type 'Int'"
        ),
        OfTypes(
            code: "_ = try await api.value(Post.self, at: \"me\")",
            text: "cannot convert value of type 'String' to expected argument type"
        ),
        OfTypes(
            code: "_ = try await api.value(Draft.self, at: .me)",
            text: "requires that 'Draft' conform to 'Decodable'"
        ),
        OfTypes(
            code: "func storesAnyProvider(_ api: NetworkConnector<any DataRequestType, Blog>) {}",
            text: "type 'any DataRequestType' cannot conform to 'DataRequestType'"
        ),
        OfTypes(
            code: "let provider: some DataRequestType",
            text: "property declares an opaque return type, but has no initializer expression from which to infer"
        ),
    ]
}

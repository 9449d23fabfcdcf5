// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of configuration files, of the settings for models and modules, and of progress.
struct ConfigurationTests {
    private func configuration(_ text: String) throws -> Configuration {
        let file = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try Configuration(contentsOf: file)
    }

    @Test func eachSettingIsRead() throws {
        let read = try configuration(
            """
            name: Shop
            access: package
            equatable: true
            hashable: [Pet, Kind]
            modules: { ShopPets: [pets, kinds] }
            pages: [{ query: after, next: /a/b, while: /more, operations: [list] }]
            """
        )
        #expect(read.name == "Shop")
        #expect(read.access == .package)
        #expect(read.equatable == .all)
        #expect(read.hashable == .named(["Pet", "Kind"]))
        #expect(read.modules.map(\.name) == ["ShopPets"])
        #expect(read.modules.first?.tags == ["pets", "kinds"])
        #expect(read.pages.map(\.query) == ["after"])
        #expect(read.pages.map(\.next) == ["/a/b"])
        #expect(read.pages.map(\.whileTrue) == ["/more"])
        #expect(read.pages.map(\.operations) == [["list"]])
    }

    @Test(arguments: [
        "oops: 1": "unknown setting \"oops\"", "equatable: Pet": "must be true, false or a list of schema names",
        "access: private": "must be one of internal, public, package", "pages: [{ query: a }]": "needs `next`",
        "pages: [{ next: a }]": "has to start with a slash", "pages: [{ next: /a, oops: 1 }]": "unknown setting",
        "tags: pets": "`tags` must be a list of strings", "paths: [1]": "`paths` must be a list of strings",
        "operations: { a: b }": "`operations` must be a list of strings",
        "alwaysCodable: \"yes\"": "must be true or false",
        "name: 1": "`name` must be a string", "prefix: []": "`prefix` must be a string",
        "renames: [a]": "`renames` must be an object", "renames: { a: 1 }": "`a` must be a string",
        "modules: [a]": "`modules` must be an object", "modules: { A: b }": "`A` must be a list of strings",
        "pages: { next: /a }": "must be a list of rules", "pages: [{ next: /a, query: 1 }]": "`query` must be a string",
        "pages: [{ next: /a, while: true }]": "`while` must be a string",
        "equatable: [1]": "`equatable` must be a list of strings",
        "pages: [{ next: /a, operations: b }]": "`operations` must be a list of strings",
        "[a]": "a configuration has to be an object",
    ])
    func aWrongSettingIsRefused(_ text: String, _ sentence: String) {
        let error = #expect(throws: DocumentError.self) { try configuration(text) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    // MARK: - Conformances

    private static let models = """
        components:
          schemas:
            A: { type: object, properties: { b: { $ref: "#/components/schemas/B" }, c: { type: object, properties: { d: {} } } } }
            B: { oneOf: [{ type: object, required: [x], properties: { x: {} } }, { type: string }] }
            E: { type: object, properties: { e: { type: string } } }
            F: { type: object, properties: { f: { type: string, format: binary } } }
        paths:
          /a:
            get:
              operationId: a
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } } }
            post:
              operationId: b
              requestBody: { content: { multipart/form-data: { schema: { $ref: "#/components/schemas/F" } } } }
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/E" } } } } }
        """

    @Test func aConformanceAppliesToTheModelsInAModel() throws {
        let code = try generated(Self.models) { $0.hashable = .named(["A"]) }.code
        #expect(code.contains("struct A: ResponseModel, Hashable {"))
        #expect(code.contains("enum B: ResponseModel, Hashable {"))
        #expect(code.contains("struct C: ResponseModel, Hashable {"))
        #expect(code.contains("struct E: ResponseModel {"))
    }

    @Test func hashableIncludesEquatable() throws {
        let code = try generated(Self.models) {
            $0.equatable = .all
            $0.hashable = .named(["E"])
        }.code
        #expect(code.contains("struct A: ResponseModel, Equatable {"))
        #expect(code.contains("struct E: ResponseModel, Hashable {"))
        #expect(code.contains("struct F: Sendable {"))
        #expect(!(try generated(Self.models).code).contains("Equatable"))
    }

    @Test(arguments: ["F": "contains a file", "Z": "no model of the schema \"Z\""])
    func aModelThatCannotBeComparedIsRefused(_ name: String, _ sentence: String) {
        let error = #expect(throws: DocumentError.self) {
            try generated(Self.models) { $0.equatable = .named([name]) }
        }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    @Test func aFormThatIsCodableHasTheNamesOfTheDocument() throws {
        let yaml = Self.models.replacing("properties: { f:", with: "properties: { f_g:")
        let code = try generated(yaml) { $0.isAlwaysCodable = true }.code
        #expect(code.contains("case fG = \"f_g\""))
        #expect(!(try generated(yaml).code).contains("case fG"))
    }

    // MARK: - Names

    @Test(arguments: ["My API", "1a", "", "a-b", "class", "A { } struct B"])
    func aNameThatIsNotAnIdentifierIsRefused(_ name: String) {
        func refuse(_ setting: String, _ change: (inout Configuration) -> Void) {
            let error = #expect(throws: DocumentError.self) { try generated(Self.models, change) }
            #expect(
                error?.description.hasPrefix("`\(setting)`: \(quoted(name)) cannot be in the name of a type") == true
            )
        }
        refuse("name") { $0.name = name }
        if !name.isEmpty { refuse("prefix") { $0.prefix = name } }
        refuse("renames") { $0.renames = ["A": name] }
        // The name of a function can have spaces.
        #expect(throws: Never.self) { try generated(Self.models) { $0.renames = ["a": name] } }
    }

    @Test func aRenameThatMatchesNothingHasAWarning() throws {
        let result = try generated(Self.models) { $0.renames = ["A": "X", "a": "x", "Z": "Y"] }
        #expect(
            result.sentences.filter { $0.contains("renames") } == [
                "`renames`: there is no operation and no schema \"Z\""
            ]
        )
    }

    // MARK: - Modules

    private static let tags = """
        openapi: 3.1.0
        info: { title: Shop }
        components:
          securitySchemes: { token: { type: http, scheme: bearer } }
          schemas:
            Own: { type: object, properties: { a: { $ref: "#/components/schemas/Inner" } } }
            Inner: { type: object, properties: { a: { type: string } } }
            Common: { type: object, properties: { part: { $ref: "#/components/schemas/Part" } } }
            Part: { type: object, properties: { a: { type: string } } }
        paths:
          /a:
            get:
              tags: [a]
              operationId: a
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Own" } } } } }
            put:
              tags: [a]
              operationId: b
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Common" } } } } }
          /b:
            get:
              tags: [b]
              operationId: c
              security: [{ token: [] }]
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Common" } } } } }
        """

    @Test func aModelIsInTheModuleThatUsesItOrInTheSharedOne() throws {
        let result = try generated(Self.tags) {
            $0.access = .package
            $0.modules = [Configuration.Module(name: "ShopA", tags: ["a"])]
        }
        func text(_ name: String) -> String { result.files.first { $0.name == name }?.text ?? "" }
        #expect(text("ShopA/Models/Models.swift").contains("struct Own:"))
        #expect(text("ShopA/Models/Models.swift").contains("struct Inner:"))
        #expect(!text("ShopA/Models/Models.swift").contains("struct Common:"))
        #expect(text("ShopModels/Models/Models.swift").contains("struct Common:"))
        #expect(text("ShopModels/Models/Models.swift").contains("struct Part:"))
        #expect(text("ShopA/Routers/ARouter.swift").contains("\npackage import ShopModels\n"))
        #expect(text("ShopOthers/Routers/BRouter.swift").contains("\npackage import ShopModels\n"))
        #expect(text("ShopModels/ShopCredentials.swift").contains(#"["token": token]"#))
        #expect(text("ShopOthers/Routers/BRouter.swift").contains(#"security: [["token"]]"#))
        #expect(result.files.allSatisfy { $0.name.hasPrefix("Shop") && $0.name.contains("/") })
    }

    @Test(arguments: [
        ([("ShopA", ["a"])], Configuration.Access.internal, "set `access`"),
        ([("shop a", ["a"])], .package, "cannot be the name"), ([("Array", ["a"])], .package, "cannot be the name"),
        ([("ShopModels", ["a"])], .package, "two modules"), ([("X", ["a"]), ("Y", ["a"])], .package, "in two modules"),
        ([("X", ["z"])], .public, "no operation has the first tag \"z\""),
    ])
    func impossibleModulesAreRefused(_ modules: [(String, [String])], _ access: Configuration.Access, _ text: String) {
        let error = #expect(throws: DocumentError.self) {
            try generated(Self.tags) {
                $0.access = access
                $0.modules = modules.map { Configuration.Module(name: $0.0, tags: Set($0.1)) }
            }
        }
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
    }

    // MARK: - Progress

    @Test func eachOperationIsAStageBetweenTheFileAndTheSources() throws {
        let file = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.tags.utf8).write(to: file)
        var stages: [Stage] = []
        _ = try Generator(contentsOf: file) { stages.append($0) }.generate()
        #expect(stages.prefix(4) == [.file(1), .operation(1, of: 3), .operation(2, of: 3), .operation(3, of: 3)])
        #expect(stages.dropFirst(4).first == .source(1))
    }

    @Test func aTerminalShowsEachStageAndALogSomeOfThem() {
        #expect(Stage.operation(7, of: 9).text(isTerminal: true) == "\r\u{1B}[KReading operation 7 of 9")
        #expect(Stage.operation(7, of: 9).text(isTerminal: false) == "")
        #expect(Stage.operation(9, of: 9).text(isTerminal: false) == "Reading operation 9 of 9\n")
        #expect(Stage.file(200).text(isTerminal: false) == "Reading file 200\n")
    }
}

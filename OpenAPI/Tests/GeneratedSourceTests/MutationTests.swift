// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Foundation
import OpenAPIGeneration
import Testing

/// Tests with randomly damaged documents.
///
/// The generator generates code that can be parsed, or refuses the document, but never traps.
@Suite(.timeLimit(.minutes(10)))
struct MutationTests {
    private static func url(of document: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: document)
    }

    @Test(arguments: ["GeneratedClientTests/constructs.yaml", "PetShopTests/petshop.yaml"])
    func damageIsRefusedOrGenerated(_ document: String) throws {
        let whole = try String(contentsOf: Self.url(of: document), encoding: .utf8)
        let lines = whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let words = [
            "null", "[]", "{}", "-1", "''", "object", "array", "$ref: '#/components/schemas/Pet'", "{ a: b }",
            "'*/ func evil() {} /*'", #""\"; evil(); \"""#, #""\nfunc evil() {}""#, #"'\(evil())'"#, "'`'", "class",
        ]
        // Most files are the same for most documents. Parsing is slower than generating.
        var parsed: Set<String> = []
        var generator = Numbers(state: 42)
        var refusedCount = 0
        for _ in 0..<200 {
            var damaged = lines
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: damaged.remove(at: index)
                case 1: damaged.insert(damaged[Int.random(in: 0..<damaged.count, using: &generator)], at: index)
                case 2:
                    let name = damaged[index].prefix { $0 != ":" }
                    damaged[index] = name + ": " + (words.randomElement(using: &generator) ?? "")
                default:
                    damaged[index] = damaged[index].replacing("type", with: "allOf", maxReplacements: 1)
                        .replacing("{", with: "[{", maxReplacements: 1)
                }
            }
            let data = Data(damaged.joined(separator: "\n").utf8)
            do {
                let files = try Generator(data, named: "a.yaml").generate().files
                for file in files where parsed.insert(file.text).inserted {
                    #expect(SourceShape.examine([file.text]).flaws == [], "\(file.name):\n\(file.text)")
                }
            } catch {
                refusedCount += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refusedCount > 20)
        #expect(refusedCount < 200)
        #expect(parsed.count > 40)
    }

    // MARK: - Bytes of JSON

    private static let petShop = url(of: "PetShopTests/petshop.yaml")

    /// A JSON document with some values replaced, or with some bytes replaced, removed, repeated or inserted.
    private static func damaged(_ bytes: [UInt8], using generator: inout Numbers) -> Data {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...2, using: &generator) {
            guard !bytes.isEmpty else { break }
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0...19, using: &generator) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 3: bytes.insert(contentsOf: (pieces.randomElement(using: &generator) ?? "").utf8, at: start)
            case 4: bytes.removeSubrange(start...)
            default:
                guard let name = bytes[start...].firstRange(of: Array("\": ".utf8)),
                    let end = bytes[name.upperBound...].firstIndex(where: { ",\n{[".utf8.contains($0) }),
                    name.upperBound < end
                else { continue }
                let value = values.randomElement(using: &generator) ?? ""
                bytes.replaceSubrange(name.upperBound..<end, with: value.utf8)
            }
        }
        return Data(bytes)
    }

    private static let pieces = ["\"", "\\", "[[[[", "]", "}", ",", ":", "{\"a\":", "1e999", "\u{FEFF}", "\0"]

    private static let values = [
        "null", "[]", "{}", "-1", "1e999", "true", "\"\"", "\"\\u+123\"", "\"\\ud800\"", "\"object\"", "\"array\"",
        "[\"null\"]",
        "{\"$ref\": \"#/components/schemas/Pet\"}", "{\"$ref\": \"#/components\"}", "\"#/components/schemas/Kind\"",
        "\"petshop.json\"", "\"../a.json\"", "{\"allOf\": [{\"$ref\": \"#/components/schemas/Pet\"}]}",
        "[{\"type\": \"object\"}]",
        "{\"pattern\": \"((a+)+)+$\"}", "{\"enum\": [1, null, \"a\"]}", "{\"items\": {\"items\": false}}",
        "{\"4xx\": {}}",
    ]

    @Test func damagedJSONIsRefusedOrGenerated() throws {
        let whole = Array(try DocumentBundle(contentsOf: Self.petShop).json().utf8)
        var generator = Numbers(state: 43)
        var refusedCount = 0
        for _ in 0..<300 {
            let data = Self.damaged(whole, using: &generator)
            do {
                let files = try Generator(data, named: "a.json").generate().files
                #expect(!files.isEmpty)
            } catch {
                refusedCount += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect((50..<250).contains(refusedCount), "\(refusedCount)")
    }

    @Test func damagedFilesAreRefusedOrCombined() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The components are in another file.
        let json = try DocumentBundle(contentsOf: Self.petShop).json()
        let main = json.replacing("\"#/components/schemas/", with: "\"petshop.json#/components/schemas/")
        let files = ["main.json": Array(main.utf8), "petshop.json": Array(json.utf8)]
        var generator = Numbers(state: 44)
        var refusedCount = 0
        for _ in 0..<150 {
            for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
                let isDamaged = Bool.random(using: &generator)
                let data = isDamaged ? Self.damaged(bytes, using: &generator) : Data(bytes)
                try data.write(to: folder.appending(component: name))
            }
            let url = folder.appending(component: "main.json")
            do {
                _ = try Generator(contentsOf: url).generate()
                // The combined document is a document of one file.
                let combined = try DocumentBundle(contentsOf: url).json()
                #expect(throws: Never.self) { try Generator(Data(combined.utf8), named: "a.json").generate() }
            } catch {
                refusedCount += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect((20..<130).contains(refusedCount), "\(refusedCount)")
    }

    @Test func aDamagedDocumentOfAContractIsRefusedOrRead() async throws {
        let file = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let whole = Array(try DocumentBundle(contentsOf: Self.petShop).json().utf8)
        let requests = try ["pets?kind=cat&limit=1", "pets/1", "pets/1/photo", "pets/x", "orders/events"].map { path in
            ApiRequest(url: try #require(URL(string: "https://shop.example.com/v1/" + path)))
        }
        var generator = Numbers(state: 45)
        var refusedCount = 0
        var answerCount = 0
        for _ in 0..<500 {
            try Self.damaged(whole, using: &generator).write(to: file)
            guard let backend = try? FakeBackend(openAPI: file) else {
                refusedCount += 1
                continue
            }
            for request in requests where (try? await backend.response(for: request)) != nil { answerCount += 1 }
        }
        #expect((100..<400).contains(refusedCount), "\(refusedCount)")
        #expect(answerCount > 200, "\(answerCount)")
    }

    /// SplitMix64.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

struct CurrencyTests {
    @Test(arguments: [
        ("GeneratedClientTests/constructs", "GeneratedClientTests/Generated"),
        ("PetShopTests/petshop", "PetShop/Generated"),
    ])
    func theGeneratedClientIsUpToDate(_ document: String, _ folder: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.appending(path: document + ".yaml")
        let configuration = try Configuration(contentsOf: tests.appending(path: document + "-config.yaml"))
        let files = try Generator(contentsOf: url, configuration: configuration).generate().files
        #expect(OutputFolder(tests.appending(path: folder)).differences(from: files) == [])
    }
}

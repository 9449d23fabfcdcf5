// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

@Suite struct CurrencyTests {
    @Test(arguments: ["GeneratedClientTests/constructs", "PetShopTests/petshop"])
    func theGeneratedClientIsUpToDate(_ document: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.appending(path: document + ".yaml")
        let configuration = try Configuration(contentsOf: tests.appending(path: document + "-config.yaml"))
        let files = try Generator(contentsOf: url, configuration: configuration).generate().files
        let folder = OutputFolder(url.deletingLastPathComponent().appending(component: "Generated"))
        #expect(folder.differences(from: files) == [])
    }
}

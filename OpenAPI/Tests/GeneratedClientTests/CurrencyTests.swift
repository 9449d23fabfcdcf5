// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import OpenAPIGeneration
import Testing

@Suite struct CurrencyTests {
    @Test func theGeneratedClientIsUpToDate() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        var configuration = Configuration()
        configuration.name = "Constructs"
        let generator = try Generator(
            contentsOf: folder.appending(component: "constructs.yaml"),
            configuration: configuration
        )
        let files = try generator.generate().files
        #expect(OutputFolder(folder.appending(component: "Generated")).differences(from: files) == [])
    }
}

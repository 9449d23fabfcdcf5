// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

@testable import OpenAPIGeneration

/// Generates code from a YAML document.
///
/// The default version is OpenAPI 3.1.
func generated(
    _ yaml: String,
    _ change: (inout Configuration) -> Void = { _ in }
) throws(DocumentError) -> Generator.Result {
    var configuration = Configuration()
    change(&configuration)
    let text = yaml.hasPrefix("openapi") ? yaml : "openapi: 3.1.0\n" + yaml
    return try Generator(Data(text.utf8), named: "a.yaml", configuration: configuration).generate()
}

/// A document with some schemas, and one operation whose response is the first of them.
func document(schemas: String) -> String {
    let first = schemas.prefix { $0 != ":" }.trimmingCharacters(in: .whitespaces)
    let rows = schemas.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
    return """
        components:
          schemas:
        \(rows)
        paths:
          /a:
            get:
              operationId: a
              responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/\(first)" } } } } }
        """
}

extension Generator.Result {
    var code: String { files.map(\.text).joined() }

    var sentences: [String] { warnings.map(\.sentence) }
}

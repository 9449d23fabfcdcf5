// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Keywords that are not known.

extension SpecificationReader {
    /// A kind of object of the specification, with its keywords.
    enum ObjectKind: String, CaseIterable {
        case root = "a document"
        case path = "a path"
        case operation = "an operation"
        case parameter = "a parameter"
        case body = "a request body"
        case content = "a media type"
        case response = "a response"

        /// The known keywords: they affect the generated code, are only documentation, or have their own warning.
        var keywords: Set<String> {
            switch self {
            case .root:
                [
                    "openapi", "info", "jsonSchemaDialect", "servers", "paths", "webhooks", "components", "security",
                    "tags", "externalDocs", "$self",
                ]
            case .path:
                Set(SpecificationReader.methods).union([
                    "$ref", "summary", "description", "servers", "parameters", "additionalOperations",
                ])
            case .operation:
                [
                    "tags", "summary", "description", "externalDocs", "operationId", "parameters", "requestBody",
                    "responses", "callbacks", "deprecated", "security", "servers",
                ]
            case .parameter:
                [
                    "name", "in", "description", "required", "deprecated", "allowEmptyValue", "style", "explode",
                    "allowReserved", "schema", "example", "examples", "content",
                ]
            case .body: ["description", "content", "required"]
            case .content:
                [
                    "schema", "itemSchema", "example", "examples", "encoding", "itemEncoding", "prefixEncoding",
                    "description",
                ]
            case .response: ["summary", "description", "headers", "content", "links"]
            }
        }
    }

    /// Warns of keywords that the specification does not have, such as misspelled ones.
    func warnOfKeywords(in node: Node, _ kind: ObjectKind) {
        let keywords = kind.keywords
        for member in node.members where !keywords.contains(member.key) && !member.key.hasPrefix("x-") {
            warnings.add(
                member.value,
                "\(quoted(member.key)) is not a keyword of \(kind.rawValue); it is ignored"
            )
        }
    }
}

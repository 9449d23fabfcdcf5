// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Keywords that are not supported.

extension SchemaReader {
    /// Warns of keywords that restrict the valid JSON, but have no effect on the generated type.
    func warnOfKeywords(in node: Node) {
        for member in node.members {
            if let sentence = Self.unsupported[member.key] {
                warnings.add(member.value, sentence)
            } else if !Self.supported.contains(member.key), !member.key.hasPrefix("x-") {
                warnings.add(member.value, "\(quoted(member.key)) is not a keyword of a schema; it is ignored")
            } else if Self.lists.contains(member.key), !member.value.isArray {
                warnings.add(member.value, "`\(member.key)` has to be a list; it is ignored")
            } else if member.key == "properties", !member.value.isObject {
                warnings.add(member.value, "`properties` has to be an object; it is ignored")
            }
        }
    }

    /// Warns of keywords next to a `$ref` that restrict the valid JSON.
    func warnOfSiblings(of node: Node) {
        for member in node.members where !Self.besideReference.contains(member.key) && !member.key.hasPrefix("x-") {
            warnings.add(member.value, "the keyword \(quoted(member.key)) next to $ref is ignored")
        }
    }

    /// Keywords that are allowed next to a reference, because they do not change the type.
    private static let besideReference: Set<String> = [
        "$ref", "title", "description", "summary", "deprecated", "default", "example", "examples", "readOnly",
        "writeOnly", "nullable", "externalDocs", "$comment", "$id", "$defs", "$anchor", "$schema", "xml",
    ]

    /// Keywords whose value is a list.
    private static let lists: Set<String> = ["required", "enum", "allOf", "oneOf", "anyOf"]

    static let unsupported: [String: String] = [
        "not": "`not` is not supported; values that it forbids are accepted",
        "if": "`if` is not supported; it is ignored",
        "patternProperties": "`patternProperties` is not supported; `additionalProperties` describes these members",
        "prefixItems": "`prefixItems` is not supported; the elements have the type of `items`, or JSONValue",
        "dependentSchemas": "`dependentSchemas` is not supported; it is ignored",
        "unevaluatedItems": "`unevaluatedItems` is not supported; it is ignored",
        "$dynamicRef": "`$dynamicRef` is not supported; the type is JSONValue",
        "contentSchema": "`contentSchema` is not supported; the value is a string",
    ]

    /// Keywords that define the type, document it, or are only checked by the server.
    static let supported: Set<String> = [
        "$ref", "type", "format", "enum", "const", "properties", "required", "additionalProperties", "items", "allOf",
        "oneOf", "anyOf", "discriminator", "nullable", "readOnly", "writeOnly", "deprecated", "default", "title",
        "description", "example", "examples", "externalDocs", "xml", "contentEncoding", "contentMediaType",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
        "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contains", "minContains",
        "maxContains", "propertyNames", "dependentRequired", "unevaluatedProperties", "then", "else", "$schema", "$id",
        "$anchor", "$defs", "$comment", "$vocabulary", "$dynamicAnchor", "definitions",
    ]
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reads the parts of an OpenAPI document other than its schemas.
struct SpecificationReader {
    let documents: DocumentSet
    let warnings: Warnings

    var root: Node { documents.root }

    /// Refuses documents that are not OpenAPI 3.0, 3.1 or 3.2.
    func checkVersion() throws(DocumentError) {
        guard root.isObject else { throw DocumentError(at: root, "the document has to be an object") }
        if root["swagger"] != nil {
            throw DocumentError(
                "\(root.file): this is Swagger 2.0; only OpenAPI 3.0, 3.1 and 3.2 are supported; convert it with "
                    + "`npx swagger2openapi -o openapi.json \(root.file)` or at editor.swagger.io"
            )
        }
        guard let version = root["openapi"]?.scalarText else {
            throw DocumentError("\(root.file): this is not an OpenAPI document; it has no member \"openapi\"")
        }
        let isKnown = ["3.0", "3.1", "3.2"].contains { version == $0 || version.hasPrefix($0 + ".") }
        guard isKnown else {
            throw DocumentError(
                at: root["openapi"] ?? root,
                "the version \(quoted(version)) is not supported; use 3.0, 3.1 or 3.2"
            )
        }
    }

    static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]

    /// All operations in the order of the document.
    func operations() throws(DocumentError) -> [Operation] {
        var operations: [Operation] = []
        for member in root["paths"]?.members ?? [] where !member.key.hasPrefix("x-") {
            guard member.key.hasPrefix("/") else {
                throw DocumentError(at: member.value, "the path \(quoted(member.key)) has to start with a slash")
            }
            guard PathTemplate(member.key).isBalanced else {
                throw DocumentError(
                    at: member.value,
                    "the path \(quoted(member.key)) has an unmatched brace"
                )
            }
            if member.key.contains("#") {
                warnings.add(member.value, "the path has a fragment, which is not sent")
            }
            if member.key.contains("?") {
                warnings.add(member.value, "the path has a query, which is sent with each of its requests")
            }
            let items = try pathItems(member.value)
            for item in items { warnOfKeywords(in: item, .path) }
            var methods: Set<String> = []
            func add(_ entry: Node.Member) throws(DocumentError) {
                if methods.insert(entry.key).inserted {
                    let own = SpecificationReader(documents: documents, warnings: Warnings())
                    var operation = try own.operation(documents.resolved(entry.value), entry.key, member.key, items)
                    operation.warnings = own.warnings.all
                    operations.append(operation)
                } else {
                    warnings.add(entry.value, "the path already has an operation for this method; this one is ignored")
                }
            }
            for entry in items.flatMap(\.members) {
                if Self.methods.contains(entry.key) {
                    try add(entry)
                } else if entry.key == "additionalOperations" {
                    for own in entry.value.members { try add(own) }
                } else if entry.key == "servers" {
                    warnings.add(
                        entry.value,
                        "the path has its own servers; make a connection with their environment"
                    )
                }
            }
        }
        warnOfKeywords(in: root, .root)
        if root["webhooks"]?.members.isEmpty == false, let webhooks = root["webhooks"] {
            warnings.add(webhooks, "webhooks are requests from the backend and are not generated")
        }
        var ids: Set<String> = []
        for index in operations.indices {
            if let id = operations[index].id, !ids.insert(id).inserted {
                let sentence = "the operationId \(quoted(id)) appears twice; this one is renamed"
                operations[index].warnings.append(Warning(pointer: operations[index].node.pointer, sentence: sentence))
            }
        }
        return operations
    }

    /// A path item, followed by the path items that its `$ref` leads to.
    ///
    /// The members beside `$ref` take precedence over the members of its target.
    private func pathItems(_ node: Node) throws(DocumentError) -> [Node] {
        // Refuses references that lead back to themselves.
        _ = try documents.resolved(node)
        var items = [node]
        while let last = items.last, let reference = last["$ref"]?.string {
            items.append(try documents.target(of: reference, at: last))
        }
        return items
    }

    private func operation(
        _ node: Node,
        _ method: String,
        _ path: String,
        _ items: [Node]
    ) throws(DocumentError) -> Operation {
        guard node.isObject else { throw DocumentError(at: node, "an operation has to be an object") }
        warnOfKeywords(in: node, .operation)
        var operation = Operation(
            node: node,
            method: method,
            path: path,
            id: node["operationId"]?.string,
            tags: node["tags"]?.elements.compactMap(\.string) ?? [],
            summary: PlainText.firstSentence(node["summary"]?.string)
                ?? PlainText.firstSentence(node["description"]?.string),
            isDeprecated: node["deprecated"]?.bool == true
        )
        operation.parameters = try parameters(of: operation, items)
        if let body = node["requestBody"] { operation.body = try self.body(documents.resolved(body)) }
        for response in node["responses"]?.members ?? [] where !response.key.hasPrefix("x-") {
            operation.responses.append(try self.response(documents.resolved(response.value), response.key))
        }
        if let security = node["security"] { operation.security = try securityAlternatives(security) }
        for key in ["callbacks", "servers"]
        where node[key]?.members.isEmpty == false || node[key]?.elements.isEmpty == false {
            let sentence =
                key == "callbacks"
                ? "callbacks are requests from the backend and are not generated"
                : "the operation has its own servers; make a connection with their environment"
            if let value = node[key] { warnings.add(value, sentence) }
        }
        return operation
    }

    /// The alternatives of `security`.
    ///
    /// A request needs all schemes of one alternative.
    ///
    /// - Throws: ``DocumentError`` for a scheme that the document does not define.
    func securityAlternatives(_ node: Node) throws(DocumentError) -> [[String]] {
        var alternatives: [[String]] = []
        for alternative in node.elements {
            for member in alternative.members where root["components"]?["securitySchemes"]?[member.key] == nil {
                throw DocumentError(at: member.value, "there is no security scheme \(quoted(member.key))")
            }
            alternatives.append(alternative.members.map(\.key))
        }
        return alternatives
    }

    // MARK: - Bodies

    private func body(_ node: Node) throws(DocumentError) -> BodyContent? {
        warnOfKeywords(in: node, .body)
        let contents = try contents(of: node)
        if contents.isEmpty { return nil }
        return BodyContent(node: node, isRequired: node["required"]?.bool == true, contents: contents)
    }

    private func response(_ node: Node, _ status: String) throws(DocumentError) -> Response {
        let isKnown =
            status == "default"
            || (status.count == 3 && ("1"..."5").contains(status.prefix(1))
                && (Int(status) != nil || status.dropFirst().uppercased() == "XX"))
        guard isKnown else { throw DocumentError(at: node, "\(quoted(status)) is not a status code") }
        warnOfKeywords(in: node, .response)
        var response = Response(node: node, status: status, contents: try contents(of: node))
        for link in node["links"]?.members ?? [] where !link.key.hasPrefix("x-") {
            response.links.append(Node.Member(key: link.key, value: try documents.resolved(link.value)))
        }
        return response
    }

    private func contents(of node: Node) throws(DocumentError) -> [Content] {
        var contents: [Content] = []
        for member in node["content"]?.members ?? [] where !member.key.hasPrefix("x-") {
            let value = try documents.resolved(member.value)
            warnOfKeywords(in: value, .content)
            let schema = value["itemSchema"] ?? value["schema"]
            let target = try schema.map { (schema) throws(DocumentError) in try documents.resolved(schema) }
            contents.append(Content(node: value, mediaType: member.key, schema: schema, target: target))
        }
        return contents
    }
}

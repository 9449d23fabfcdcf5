// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Reads what an OpenAPI document says beside its schemas.
struct SpecificationReader {
    let documents: DocumentSet
    let warnings: Warnings

    var root: Node { documents.root }

    /// Refuses what is not OpenAPI 3.0, 3.1 or 3.2.
    func checkVersion() throws(DocumentError) {
        guard root.isObject else { throw DocumentError(at: root, "the document has to be an object") }
        if root["swagger"] != nil {
            throw DocumentError(
                "\(root.file): this is Swagger 2.0, and only OpenAPI 3.0, 3.1 and 3.2 are read; convert it, such as by "
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
                "the version \(quoted(version)) is not one of 3.0, 3.1 and 3.2"
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
            let item = try documents.resolved(member.value)
            for entry in item.members {
                if Self.methods.contains(entry.key) {
                    operations.append(try operation(documents.resolved(entry.value), entry.key, member.key, item))
                } else if entry.key == "additionalOperations" {
                    for own in entry.value.members {
                        operations.append(try operation(documents.resolved(own.value), own.key, member.key, item))
                    }
                } else if entry.key == "servers" {
                    warnings.add(
                        entry.value,
                        "the path has servers of its own; make a connection with the environment for them"
                    )
                } else if !["summary", "description", "parameters", "$ref"].contains(entry.key),
                    !entry.key.hasPrefix("x-")
                {
                    warnings.add(entry.value, "the keyword \(quoted(entry.key)) is not one of a path; it is ignored")
                }
            }
        }
        if root["webhooks"]?.members.isEmpty == false, let webhooks = root["webhooks"] {
            warnings.add(webhooks, "webhooks are requests to you and are not generated")
        }
        var ids: Set<String> = []
        for operation in operations {
            if let id = operation.id, !ids.insert(id).inserted {
                warnings.add(operation.node, "the operationId \(quoted(id)) is there twice; this one gets another name")
            }
        }
        return operations
    }

    private func operation(
        _ node: Node,
        _ method: String,
        _ path: String,
        _ item: Node
    ) throws(DocumentError) -> Operation {
        guard node.isObject else { throw DocumentError(at: node, "an operation has to be an object") }
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
        operation.parameters = try parameters(of: operation, item)
        if let body = node["requestBody"] { operation.body = try self.body(documents.resolved(body)) }
        for response in node["responses"]?.members ?? [] where !response.key.hasPrefix("x-") {
            operation.responses.append(try self.response(documents.resolved(response.value), response.key))
        }
        operation.security = node["security"].map(securityAlternatives)
        for key in ["callbacks", "servers"]
        where node[key]?.members.isEmpty == false || node[key]?.elements.isEmpty == false {
            let sentence =
                key == "callbacks"
                ? "callbacks are requests to you and are not generated"
                : "the operation has servers of its own; make a connection with the environment for them"
            if let value = node[key] { warnings.add(value, sentence) }
        }
        return operation
    }

    func securityAlternatives(_ node: Node) -> [[String]] {
        node.elements.map { $0.members.map(\.key) }
    }

    // MARK: - Parameters

    private func parameters(of operation: Operation, _ item: Node) throws(DocumentError) -> [Parameter] {
        var found: [Parameter] = []
        let lists = [item["parameters"], operation.node["parameters"]]
        for list in lists {
            for node in list?.elements ?? [] {
                guard let parameter = try parameter(documents.resolved(node)) else { continue }
                if let same = found.firstIndex(where: {
                    $0.name == parameter.name && $0.location == parameter.location
                }) {
                    found[same] = parameter
                } else {
                    found.append(parameter)
                }
            }
        }
        let names = PathTemplate(operation.path).names
        found.removeAll { parameter in
            guard parameter.location == .path, !names.contains(parameter.name) else { return false }
            warnings.add(parameter.node, "the path \(operation.path) has no part {\(parameter.name)}; it is ignored")
            return true
        }
        for name in names where !found.contains(where: { $0.location == .path && $0.name == name }) {
            warnings.add(operation.node, "no parameter describes {\(name)} of the path; it becomes a text")
            found.append(
                Parameter(
                    node: operation.node,
                    name: name,
                    location: .path,
                    isRequired: true,
                    schema: nil,
                    mediaType: nil,
                    style: "simple",
                    explode: false,
                    documentation: nil,
                    isDeprecated: false
                )
            )
        }
        return found
    }

    private func parameter(_ node: Node) throws(DocumentError) -> Parameter? {
        guard let name = node["name"]?.string, let place = node["in"]?.string else {
            throw DocumentError(at: node, "a parameter needs `name` and `in`")
        }
        guard let location = Parameter.Location(rawValue: place) else {
            throw DocumentError(at: node, "a parameter cannot be in \(quoted(place))")
        }
        if location == .header, ["accept", "content-type", "authorization"].contains(name.lowercased()) {
            // The specification has it ignored: `content` and `security` say it.
            return nil
        }
        let content = node["content"]?.members.first
        let style =
            node["style"]?.string ?? (location == .path || location == .header ? "simple" : "form")
        let styles: [Parameter.Location: Set<String>] = [
            .path: ["simple", "label", "matrix"],
            .query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            .header: ["simple"], .cookie: ["form", "cookie"], .querystring: ["form"],
        ]
        if styles[location]?.contains(style) != true {
            warnings.add(node, "the style \(quoted(style)) is not one for \(place); the default is used")
        }
        if node["allowReserved"]?.bool == true {
            warnings.add(node, "`allowReserved` is not supported; reserved characters are percent-encoded")
        }
        return Parameter(
            node: node,
            name: name,
            location: location,
            isRequired: location == .path || node["required"]?.bool == true,
            schema: node["schema"] ?? content?.value["schema"],
            mediaType: content?.key,
            style: style,
            explode: node["explode"]?.bool ?? (style == "form" || style == "deepObject" || style == "cookie"),
            documentation: SchemaReader.documentation(of: node, default: node["schema"]?["default"]),
            isDeprecated: node["deprecated"]?.bool == true
        )
    }

    // MARK: - Bodies

    private func body(_ node: Node) throws(DocumentError) -> BodyContent? {
        let contents = try contents(of: node)
        if contents.isEmpty { return nil }
        return BodyContent(node: node, isRequired: node["required"]?.bool == true, contents: contents)
    }

    private func response(_ node: Node, _ status: String) throws(DocumentError) -> Response {
        let isKnown =
            status == "default"
            || (status.count == 3 && ("1"..."5").contains(status.prefix(1))
                && (Int(status) != nil || status.dropFirst().uppercased() == "XX"))
        guard isKnown else { throw DocumentError(at: node, "there is no status \(quoted(status))") }
        if let links = node["links"], !links.members.isEmpty {
            warnings.add(links, "links are not generated")
        }
        return Response(node: node, status: status, contents: try contents(of: node))
    }

    private func contents(of node: Node) throws(DocumentError) -> [Content] {
        var contents: [Content] = []
        for member in node["content"]?.members ?? [] where !member.key.hasPrefix("x-") {
            let value = try documents.resolved(member.value)
            contents.append(
                Content(node: value, mediaType: member.key, schema: value["itemSchema"] ?? value["schema"])
            )
        }
        return contents
    }
}

/// A path with parts in braces.
struct PathTemplate {
    enum Part {
        case text(String)
        case name(String)
    }

    private(set) var parts: [Part] = []

    init(_ path: String) {
        var rest = path[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            parts.append(.name(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
    }

    var names: [String] {
        var names: [String] = []
        for case .name(let name) in parts where !names.contains(name) { names.append(name) }
        return names
    }
}

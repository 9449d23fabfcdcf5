// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Reads the parameters of path items and operations.

extension SpecificationReader {
    func parameters(of operation: Operation, _ items: [Node]) throws(DocumentError) -> [Parameter] {
        struct Key: Hashable {
            let name: String
            let location: Parameter.Location
        }
        var found: [Parameter] = []
        var indices: [Key: Int] = [:]
        for owner in items.reversed() + [operation.node] {
            var own: Set<Key> = []
            for node in owner["parameters"]?.elements ?? [] {
                guard let parameter = try parameter(documents.resolved(node)) else { continue }
                let key = Key(name: parameter.name, location: parameter.location)
                if !own.insert(key).inserted {
                    warnings.add(node, "the parameter \(quoted(parameter.name)) appears twice; the last one is used")
                }
                if let same = indices[key] {
                    found[same] = parameter
                } else {
                    indices[key] = found.count
                    found.append(parameter)
                }
            }
        }
        let template = PathTemplate(operation.path)
        for item in template.query
        where item.value.hasPrefix("{") && indices[Key(name: item.name, location: .query)] == nil {
            warnings.add(
                operation.node,
                "no parameter describes \(quoted(item.name)) of the path's query; it is not sent"
            )
        }
        let names = template.names
        let known = Set(names)
        found.removeAll { parameter in
            guard parameter.location == .path, !known.contains(parameter.name) else { return false }
            warnings.add(parameter.node, "the path \(operation.path) has no part {\(parameter.name)}; it is ignored")
            return true
        }
        for name in names where indices[Key(name: name, location: .path)] == nil {
            warnings.add(operation.node, "no parameter describes {\(name)} of the path; its type is String")
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
            // The specification says that such a parameter is ignored, because `content` and `security` define these
            // fields.
            return nil
        }
        warnOfKeywords(in: node, .parameter)
        let content = node["content"]?.members.first
        let media = try content.map { (content) throws(DocumentError) in try documents.resolved(content.value) }
        if let type = content?.key, ContentKind(type) != .json, location != .querystring {
            warnings.add(node, "\(quoted(type)) is not supported in a parameter; the value is sent as text")
        }
        let standard = location == .path || location == .header ? "simple" : "form"
        var style = node["style"]?.string ?? standard
        let styles: [Parameter.Location: Set<String>] = [
            .path: ["simple", "label", "matrix"],
            .query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            .header: ["simple"], .cookie: ["form", "cookie"], .querystring: ["form"],
        ]
        if styles[location]?.contains(style) != true {
            warnings.add(node, "the style \(quoted(style)) is not possible for \(place); the default is used")
            style = standard
        }
        if node["allowReserved"]?.bool == true {
            warnings.add(node, "`allowReserved` is not supported; reserved characters are percent-encoded")
        }
        return Parameter(
            node: node,
            name: name,
            location: location,
            isRequired: location == .path || node["required"]?.bool == true,
            schema: node["schema"] ?? media?["schema"],
            mediaType: content?.key,
            style: style,
            explode: node["explode"]?.bool ?? (style == "form" || style == "deepObject" || style == "cookie"),
            documentation: SchemaReader.documentation(of: node, default: node["schema"]?["default"]),
            isDeprecated: node["deprecated"]?.bool == true
        )
    }
}

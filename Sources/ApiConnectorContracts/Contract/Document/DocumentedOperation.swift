// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One operation of a document.
struct DocumentedOperation: Sendable {
    let method: HTTPMethod
    let template: DocumentedPath
    let node: JSONNode
    let parameters: [DocumentedParameter]
    /// The paths that may precede the template: the paths of the servers' URLs.
    let bases: [DocumentedPath]
    /// The names of the query items, header fields and cookies for credentials, which the parameters do not include.
    let credentialNames: Set<String>

    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]

    /// The operations of a path item; members beside its `$ref` take precedence over the members of the target.
    static func all(of item: JSONNode, at path: String, in root: JSONNode) -> [DocumentedOperation] {
        let items = item.references
        let schemes = (root["components"]?["securitySchemes"]?.members ?? []).compactMap(\.node.resolved)
        let credentialNames = Set(schemes.filter { $0.text("type") == "apiKey" }.compactMap { $0.text("name") })
        let found = items.flatMap { item in
            methods.compactMap { name in item[name].map { (name.uppercased(), $0) } }
                + (item["additionalOperations"]?.members ?? []).map { ($0.key, $0.node) }
        }
        var known: Set<String> = []
        return found.compactMap { name, node in
            // In a document of several files, an operation can be in its own file.
            guard known.insert(name).inserted, let node = node.resolved else { return nil }
            let servers = node["servers"] ?? items.lazy.compactMap { $0["servers"] }.first ?? root["servers"]
            return DocumentedOperation(
                method: HTTPMethod(rawValue: name),
                template: DocumentedPath(path),
                node: node,
                parameters: DocumentedParameter.all(of: node, in: items),
                bases: (servers?.elements ?? []).flatMap(urls).map(DocumentedPath.init(ofServer:)),
                credentialNames: credentialNames
            )
        }
    }

    /// The URL of a server, and the URLs in which a variable has one of its values that contains a slash.
    ///
    /// Another value of a variable is one segment of the path, or a part of one. At most 64 URLs are used.
    private static func urls(of server: JSONNode) -> [String] {
        guard let url = server.text("url") else { return [] }
        return (server["variables"]?.members ?? []).reduce([url]) { urls, variable in
            let values = (variable.node["enum"]?.value.array ?? []) + [variable.node["default"]?.value ?? .null]
            let long = values.compactMap(\.string).filter { $0.contains("/") }
            let others = urls.flatMap { url in long.map { url.replacing("{\(variable.key)}", with: $0) } }
            return Array((urls + others).prefix(64))
        }
    }

    /// The values of the path's parameters, percent-encoded; nil if a request's path does not match.
    ///
    /// - Parameter route: The path of the request's route, with `{}` for each value. The environment's base path
    ///   precedes this path. The base path does not have to be the path of a server in the document.
    func values(of path: String, route: DocumentedPath?) -> [String: String]? {
        let segments = DocumentedPath.segments(path)
        let count = segments.count - template.segments.count
        guard count >= 0 else { return nil }
        let base = Array(segments[..<count])
        let isBase =
            base.isEmpty || bases.contains { $0.values(of: base) != nil }
            || (route?.segments.count == template.segments.count && route?.values(of: Array(segments[count...])) != nil)
        return isBase ? template.values(of: Array(segments[count...])) : nil
    }

    /// The operation's name in a text, such as `GET /pets/{id}`.
    var description: String { "\(method) \(template.text)" }

    /// The documented response for a status: for its number, for its class such as `4XX`, or the default response.
    func response(_ status: HTTPStatus) -> JSONNode? {
        let responses = node["responses"]
        let found =
            responses?["\(status.rawValue)"] ?? response(ofClass: status.rawValue / 100) ?? responses?["default"]
        return found?.resolved
    }

    /// The response for a class of statuses, whose key is `4XX` or, in some documents, `4xx`.
    private func response(ofClass hundreds: Int) -> JSONNode? {
        node["responses"]?.members.first { $0.key.uppercased() == "\(hundreds)XX" }?.node
    }

    /// A status whose documented response has a key, such as `404`, `4XX` or `default`; nil if there is no such status.
    func status(ofResponse key: String) -> HTTPStatus? {
        if let number = Int(key) { return HTTPStatus(rawValue: number) }
        let responses = node["responses"]
        let isClass = key.uppercased().hasSuffix("XX")
        let hundreds = isClass ? [Int(key.prefix(1)) ?? 5] : [5, 4]
        let statuses = hundreds.filter { isClass || response(ofClass: $0) == nil }.flatMap { $0 * 100..<$0 * 100 + 100 }
        return statuses.first { responses?["\($0)"] == nil }.map { HTTPStatus(rawValue: $0) }
    }
}

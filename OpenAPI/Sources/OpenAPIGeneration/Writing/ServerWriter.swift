// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes where a backend is, and who may use it.
struct ServerWriter {
    let configuration: Configuration
    let specification: SpecificationReader
    let apiName: String

    private var access: String {
        configuration.access == .internal ? "" : configuration.access.rawValue + " "
    }

    private var warnings: Warnings { specification.warnings }

    // MARK: - Servers

    func writeServers(to writer: inout SourceWriter) {
        writer.documentation("Where the backend \(apiName) can be.")
        writer.block("\(access)struct \(apiName)Server: ApiEnvironment") { writer in
            writer.line("/// The name or address.")
            writer.line("\(access)var host: String")
            writer.blank()
            writer.line("/// How to talk to it.")
            writer.line("\(access)var scheme = HTTPScheme.https")
            writer.blank()
            writer.line("/// The port; nil for the scheme's own.")
            writer.line("\(access)var port: Int?")
            writer.blank()
            writer.line("/// What stands before every path.")
            writer.line("\(access)var basePath = \"\"")
            if !access.isEmpty { writeInitializer(&writer) }
            var names: Set<String> = ["host", "scheme", "port", "basePath"]
            let servers = specification.root["servers"]?.elements ?? []
            for (index, server) in (servers + ownServers(besides: servers)).enumerated() {
                writer.blank()
                write(server, index, &names, &writer)
            }
            if servers.isEmpty { warnings.add(specification.root, "there are no servers; name the host yourself") }
        }
    }

    /// The servers of single operations and paths, each URL once.
    private func ownServers(besides servers: [Node]) -> [Node] {
        var urls = Set(servers.compactMap { $0["url"]?.string })
        var own: [Node] = []
        for path in specification.root["paths"]?.members ?? [] {
            guard let item = try? specification.documents.resolved(path.value) else { continue }
            let operations = item.members.compactMap { try? specification.documents.resolved($0.value) }
            for server in ([item] + operations).flatMap({ $0["servers"]?.elements ?? [] }) {
                if urls.insert(server["url"]?.string ?? "").inserted { own.append(server) }
            }
        }
        return own
    }

    private func writeInitializer(_ writer: inout SourceWriter) {
        writer.blank()
        writer.line("/// Makes an environment, such as of a test's own server.")
        let arguments = [
            "host: String", "scheme: HTTPScheme = .https", "port: Int? = nil", "basePath: String = \"\"",
        ]
        writer.call("public init", arguments.map { .text($0) }, " {")
        writer.indented { writer in
            for name in ["host", "scheme", "port", "basePath"] { writer.line("self.\(name) = \(name)") }
        }
        writer.line("}")
    }

    private func write(_ server: Node, _ index: Int, _ names: inout Set<String>, _ writer: inout SourceWriter) {
        var url = server["url"]?.string ?? "/"
        for variable in server["variables"]?.members ?? [] {
            // A variable that is a scheme and a host has no part of the environment of its own.
            guard let text = variable.value["default"]?.string, text.contains("://") else { continue }
            url = url.replacing("{\(variable.key)}", with: text)
        }
        let description = PlainText.firstSentence(server["description"]?.string)
        let named = server["name"]?.string ?? description.flatMap(Self.shortName)
        let wanted = index == 0 && named == nil ? "production" : named.map(Identifier.member) ?? "server\(index + 1)"
        let name = SchemaReader.unique(index == 0 ? "production" : wanted, in: &names)
        let parts = ServerURL(url)
        let variables = server["variables"]?.members ?? []
        writer.summary(description ?? "`\(PlainText.line(url))`.")
        let arguments = variables.filter { url.contains("{\($0.key)}") }.map { variable in
            let fallback = variable.value["default"]?.scalarText ?? ""
            let name = Identifier.escaped(Identifier.member(variable.key))
            return SourceWriter.Argument.text("\(name): String = \(PlainText.literal(fallback))")
        }
        var values: [String] = []
        if let host = parts.host {
            values.append("host: " + template(host, variables))
        } else {
            warnings.add(server, "the server has no host; name it where you make the environment")
            values.append("host: host")
        }
        if parts.scheme == "http" { values.append("scheme: .http") }
        if let port = parts.port {
            values.append(Int(port) != nil ? "port: \(port)" : "port: Int(\(template(port, variables)))")
        }
        if !parts.path.isEmpty { values.append("basePath: " + template(parts.path, variables)) }
        let code = "(\(values.joined(separator: ", ")))"
        if parts.host == nil || !arguments.isEmpty {
            let own = parts.host == nil ? [SourceWriter.Argument.text("host: String")] : []
            writer.call("\(access)static func \(Identifier.escaped(name))", own + arguments, " -> Self {")
            writer.indented { $0.line("Self" + code) }
            writer.line("}")
        } else {
            writer.line("\(access)static let \(Identifier.escaped(name)) = Self\(code)")
        }
    }

    /// The first words of a description that say something.
    private static func shortName(_ description: String) -> String? {
        let noise: Set<String> = [
            "a", "an", "the", "server", "servers", "url", "for", "of", "to", "api", "environment",
        ]
        let words = Identifier.words(of: description).filter { !noise.contains($0.lowercased()) }.prefix(3)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// A literal in which the variables are interpolated.
    private func template(_ text: String, _ variables: [Node.Member]) -> String {
        var code = "\""
        for part in PathTemplate(text).parts {
            switch part {
            case .text(let text): code += PlainText.literal(text).dropFirst().dropLast()
            case .name(let name):
                if variables.contains(where: { $0.key == name }) {
                    code += "\\(\(Identifier.escaped(Identifier.member(name))))"
                } else {
                    code += PlainText.literal("{\(name)}").dropFirst().dropLast()
                }
            }
        }
        return code + "\""
    }

    // MARK: - Credentials

    private var schemes: [Node.Member] { specification.root["components"]?["securitySchemes"]?.members ?? [] }

    var hasSecurity: Bool { !schemes.isEmpty }

    func writeCredentials(_ defaultSecurity: [[String]], to writer: inout SourceWriter) throws(DocumentError) {
        var names: Set<String> = ["credential", "source"]
        var items: [(name: String, key: String, documentation: String, factory: [String])] = []
        for scheme in schemes {
            let node = try specification.documents.resolved(scheme.value)
            let name = SchemaReader.unique(Identifier.member(scheme.key), in: &names)
            items.append(item(scheme.key, name, node))
        }
        writer.block("nonisolated extension SecurityScheme") { writer in
            for item in items {
                writer.line("static let \(Identifier.escaped(item.name)) = Self(\(PlainText.literal(item.key)))")
            }
        }
        writer.blank()
        writer.documentation(
            "Gives each request the credential that the document asks for: `authenticated(by: \(apiName)Credentials(…))`."
        )
        writer.block("\(access)struct \(apiName)Credentials: CredentialSource") { writer in
            writer.line("private let sources: [SecurityScheme: any CredentialSource]")
            writer.blank()
            writer.documentation(
                "Makes a source of a source for each way to sign in; those that are nil are not used."
            )
            writer.line("///")
            writer.line("/// - Parameters:")
            for item in items { writer.documentation(item.documentation, first: "  - \(item.name): ", next: "    ") }
            let arguments = items.map {
                SourceWriter.Argument.text("\(Identifier.escaped($0.name)): (any CredentialSource)? = nil")
            }
            writer.call("\(access)init", arguments, " {")
            writer.indented { writer in
                writer.line("var sources: [SecurityScheme: any CredentialSource] = [:]")
                for item in items {
                    let name = Identifier.escaped(item.name)
                    writer.line("sources[.\(name)] = \(name)")
                }
                writer.line("self.sources = sources")
            }
            writer.line("}")
            writeLookUp(defaultSecurity, &writer)
            for item in items where !item.factory.isEmpty {
                writer.blank()
                for line in item.factory { writer.line(line) }
            }
        }
    }

    private func writeLookUp(_ defaultSecurity: [[String]], _ writer: inout SourceWriter) {
        let names = defaultSecurity.compactMap(\.first).map { "." + Identifier.escaped(Identifier.member($0)) }
        writer.blank()
        writer.line(
            "/// The credential of the first way to sign in that the request's operation accepts; nil for none."
        )
        writer.block(
            "\(access)func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential?"
        ) { writer in
            writer.line("guard let route = request.route as? any OperationRouter else { return nil }")
            writer.line("for scheme in route.parts.security ?? [\(names.joined(separator: ", "))] {")
            writer.indented {
                $0.line("if let source = sources[scheme] { return try await source.credential(for: request) }")
            }
            writer.line("}")
            writer.line("return nil")
        }
        writer.blank()
        writer.line("/// Tells every source.")
        writer.block("\(access)func refuse(_ credential: ApiCredential)") { writer in
            writer.line("for source in sources.values { source.refuse(credential) }")
        }
    }

    private func item(
        _ key: String,
        _ name: String,
        _ node: Node
    ) -> (name: String, key: String, documentation: String, factory: [String]) {
        let escaped = Identifier.escaped(name)
        func factory(_ parameters: String, _ credential: String) -> [String] {
            [
                "/// Signs in by `\(PlainText.line(key))` alone.",
                "\(access)static func \(escaped)(\(parameters)) -> Self {",
                "    Self(\(escaped): .fixed(\(credential)))",
                "}",
            ]
        }
        switch (node["type"]?.string, node["in"]?.string, node["scheme"]?.string?.lowercased()) {
        case ("apiKey", "header", _):
            let field = PlainText.literal(node["name"]?.string ?? "X-Api-Key")
            let text = "A key in the header field \(field)."
            return (name, key, text, factory("_ key: String", ".apiKey(key, inHeader: \(field))"))
        case ("apiKey", "query", _):
            let item = PlainText.literal(node["name"]?.string ?? "key")
            return (name, key, "A key in the query.", factory("_ key: String", ".apiKey(key, inQuery: \(item))"))
        case ("apiKey", "cookie", _):
            let cookie = PlainText.literal((node["name"]?.string ?? "key") + "=")
            let code = ".apiKey(\(cookie) + key, inHeader: .cookie)"
            return (name, key, "A key in a cookie.", factory("_ key: String", code))
        case ("http", _, "basic"):
            let code = ".basic(user: user, password: password)"
            return (name, key, "A user and a password.", factory("user: String, password: String", code))
        case ("http", _, "bearer"), ("oauth2", _, _), ("openIdConnect", _, _):
            return (name, key, "A bearer token.", factory("_ token: String", ".bearer(token)"))
        default:
            warnings.add(node, "this way to sign in is not supported; make a credential source of your own for it")
            return (name, key, "A source of your own.", [])
        }
    }
}

/// The parts of a server's URL, with variables in braces.
struct ServerURL {
    var scheme: String?
    var host: String?
    var port: String?
    var path: String

    init(_ url: String) {
        var rest = url[...]
        if let mark = rest.firstRange(of: "://") {
            scheme = rest[..<mark.lowerBound].lowercased()
            rest = rest[mark.upperBound...]
            let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
            let authority = rest[..<end]
            rest = rest[end...]
            if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
                host = String(authority[..<colon])
                port = String(authority[authority.index(after: colon)...])
            } else {
                host = String(authority)
            }
        }
        path = String(rest.prefix { $0 != "?" && $0 != "#" })
        while path.hasSuffix("/") { path.removeLast() }
    }
}

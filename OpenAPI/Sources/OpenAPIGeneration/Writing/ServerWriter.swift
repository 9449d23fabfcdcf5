// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes the servers and the credentials of a backend.
struct ServerWriter {
    let configuration: Configuration
    let specification: SpecificationReader
    let apiName: String

    var access: String {
        configuration.access == .internal ? "" : configuration.access.rawValue + " "
    }

    var warnings: Warnings { specification.warnings }

    // MARK: - Servers

    func writeServers(to writer: inout SourceWriter) {
        writer.documentation("A server of the backend \(apiName).")
        writer.block("\(access)struct \(apiName)Server: ApiEnvironment") { writer in
            writer.line("/// The host name or address.")
            writer.line("\(access)var host: String")
            writer.blank()
            writer.line("/// The scheme; https by default.")
            writer.line("\(access)var scheme = HTTPScheme.https")
            writer.blank()
            writer.line("/// The port; nil for the scheme's default.")
            writer.line("\(access)var port: Int?")
            writer.blank()
            writer.line("/// The prefix of every path.")
            writer.line("\(access)var basePath = \"\"")
            if !access.isEmpty { writeInitializer(&writer) }
            for (server, name) in namedServers() {
                writer.blank()
                write(server, name, &writer)
            }
            if specification.root["servers"]?.elements.isEmpty != false {
                warnings.add(specification.root, "the document has no servers; pass the host to the environment")
            }
        }
    }

    /// The names of the environments, each with its URL, in which variables have their defaults.
    func environments() -> [(name: String, url: String)] {
        namedServers().map { server, name in
            var url = server["url"]?.string ?? "/"
            for variable in server["variables"]?.members ?? [] {
                url = url.replacing("{\(variable.key)}", with: variable.value["default"]?.scalarText ?? "")
            }
            return (name, url)
        }
    }

    /// All servers, each with the name of its environment.
    private func namedServers() -> [(server: Node, name: String)] {
        var names: NameSet = ["host", "scheme", "port", "basePath"]
        let servers = specification.root["servers"]?.elements ?? []
        return (servers + ownServers(besides: servers)).enumerated().map { index, server in
            let description = PlainText.firstSentence(server["description"]?.string)
            let named = server["name"]?.string ?? description.flatMap(Self.shortName)
            let isProduction = index == 0 && !Self.isForTests(server)
            let fallback = Self.isLocal(server) ? "localhost" : "server\(index + 1)"
            return (server, names.unique(isProduction ? "production" : named.map(Identifier.member) ?? fallback))
        }
    }

    /// The servers of single operations and paths.
    ///
    /// Each URL is listed once.
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
        writer.line("/// Makes an environment, for example for a test server.")
        let arguments = [
            "host: String", "scheme: HTTPScheme = .https", "port: Int? = nil", "basePath: String = \"\"",
        ]
        writer.call("\(access)init", arguments.map { .text($0) }, " {")
        writer.indented { writer in
            for name in ["host", "scheme", "port", "basePath"] { writer.line("self.\(name) = \(name)") }
        }
        writer.line("}")
    }

    private func write(_ server: Node, _ name: String, _ writer: inout SourceWriter) {
        var url = server["url"]?.string ?? "/"
        for variable in server["variables"]?.members ?? [] {
            // A variable that contains a host and also its scheme or its port does not fit into one part of the
            // environment, so its default is used.
            guard let text = variable.value["default"]?.string else { continue }
            let hasPort = text.wholeMatch(of: /[^:\/]+:[0-9]+/) != nil && url.contains("//{\(variable.key)}")
            if hasPort {
                warnings.add(variable.value, "a variable cannot have a host and a port, so its default is used")
            }
            if hasPort || text.contains("://") { url = url.replacing("{\(variable.key)}", with: text) }
        }
        let parts = ServerURL(url)
        if let flaw = parts.flaw { warnings.add(server, flaw) }
        writer.summary(PlainText.firstSentence(server["description"]?.string) ?? "`\(PlainText.line(url))`.")
        var argumentNames: NameSet = parts.host == nil ? ["host"] : []
        var variables: [String: String] = [:]
        var arguments: [SourceWriter.Argument] = []
        for variable in server["variables"]?.members ?? [] where url.contains("{\(variable.key)}") {
            let fallback = variable.value["default"]?.scalarText ?? ""
            let name = argumentNames.unique(Identifier.member(variable.key))
            variables[variable.key] = name
            if parts.scheme == "{\(variable.key)}" {
                let value = fallback.lowercased() == "http" ? ".http" : ".https"
                arguments.append(.text("\(Identifier.escaped(name)): HTTPScheme = \(value)"))
            } else {
                arguments.append(.text("\(Identifier.escaped(name)): String = \(PlainText.literal(fallback))"))
            }
        }
        // Braces around other text are not a variable.
        for name in PathTemplate(url).names
        where variables[name] == nil && name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.\-]*/) != nil {
            warnings.add(server, "the variable \(quoted(name)) is not described, so it has no default")
            let argument = argumentNames.unique(Identifier.member(name))
            variables[name] = argument
            let type = parts.scheme == "{\(name)}" ? "HTTPScheme" : "String"
            arguments.append(.text("\(Identifier.escaped(argument)): \(type)"))
        }
        var values: [String] = []
        if let host = parts.host {
            values.append("host: " + template(host, variables))
        } else {
            warnings.add(server, "the server has no host; pass it to the environment")
            values.append("host: host")
        }
        if parts.scheme?.lowercased() == "http" { values.append("scheme: .http") }
        if let scheme = parts.scheme, scheme.hasPrefix("{"), let name = variables[String(scheme.dropFirst().dropLast())]
        {
            values.append("scheme: \(Identifier.escaped(name))")
        }
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

    /// Whether a server is for tests, by its name, its description or its address.
    private static func isForTests(_ server: Node) -> Bool {
        let texts = ["name", "description"].compactMap { server[$0]?.string }
        let words = Identifier.words(of: texts.joined(separator: " ")).map { $0.lowercased() }
        if words.contains(where: { $0.hasPrefix("prod") }) { return false }
        return !testWords.isDisjoint(with: words) || isLocal(server)
    }

    private static func isLocal(_ server: Node) -> Bool {
        guard let host = server["url"]?.string.flatMap({ ServerURL($0).host }) else { return false }
        return ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    private static let testWords: Set<String> = [
        "beta", "demo", "dev", "development", "localhost", "mock", "preview", "qa", "sandbox", "stage", "staging",
        "test", "testing", "uat",
    ]

    /// The first meaningful words of a description.
    private static func shortName(_ description: String) -> String? {
        let noise: Set<String> = [
            "a", "an", "the", "s", "server", "servers", "url", "for", "of", "to", "api", "environment",
        ]
        let words = Identifier.words(of: description).filter { !noise.contains($0.lowercased()) }.prefix(3)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// A literal in which the variables are interpolated.
    private func template(_ text: String, _ variables: [String: String]) -> String {
        var code = "\""
        for part in PathTemplate(text).parts {
            switch part {
            case .text(let text): code += PlainText.literalContent(text)
            case .name(let name):
                if let variable = variables[name] {
                    code += "\\(\(Identifier.escaped(variable)))"
                } else {
                    code += PlainText.literalContent("{\(name)}")
                }
            }
        }
        return code + "\""
    }
}

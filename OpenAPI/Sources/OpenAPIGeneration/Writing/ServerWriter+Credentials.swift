// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Security schemes.

extension ServerWriter {
    private var schemes: [Node.Member] { specification.root["components"]?["securitySchemes"]?.members ?? [] }

    var hasSecurity: Bool { !schemes.isEmpty }

    /// The name of each scheme in the code.
    private var schemeNames: [String: String] {
        var names: NameSet = ["credential", "source", "refuse", "name", "init"]
        return Dictionary(uniqueKeysWithValues: schemes.map { ($0.key, names.unique(Identifier.member($0.key))) })
    }

    func writeCredentials(_ defaultSecurity: [String], to writer: inout SourceWriter) throws(DocumentError) {
        let names = schemeNames
        var items: [(name: String, key: String, documentation: String, factory: [String])] = []
        for scheme in schemes {
            let node = try specification.documents.resolved(scheme.value)
            items.append(item(scheme.key, names[scheme.key] ?? "value", node))
        }
        writer.documentation(
            "Adds the credentials that the document requires: `authenticating(by: \(apiName)Credentials(…))`."
        )
        writer.block("\(access)struct \(apiName)Credentials: CredentialSource") { writer in
            writer.line("private let source: OperationCredentials")
            writer.blank()
            writer.documentation(
                "Takes one source per security scheme; a scheme whose source is nil is not used."
            )
            writer.line("///")
            writer.line("/// - Parameters:")
            for item in items { writer.documentation(item.documentation, first: "  - \(item.name): ", next: "    ") }
            let arguments = items.map {
                SourceWriter.Argument.text("\(Identifier.escaped($0.name)): (any CredentialSource)? = nil")
            }
            writer.call("\(access)init", arguments, " {")
            writer.indented { writer in
                let sources = items.map { "\(PlainText.literal($0.key)): \(Identifier.escaped($0.name))" }
                writer.call(
                    "source = OperationCredentials",
                    [.list("", sources), .list("security: ", defaultSecurity)]
                )
            }
            writer.line("}")
            writeLookUp(&writer)
            for item in items where !item.factory.isEmpty {
                writer.blank()
                for line in item.factory { writer.line(line) }
            }
        }
    }

    private func writeLookUp(_ writer: inout SourceWriter) {
        writer.blank()
        writer.line(
            "/// The credentials of the operation's first alternative for which all sources exist; nil without one."
        )
        writer.block(
            "\(access)func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential?"
        ) { $0.line("try await source.credential(for: request)") }
        writer.blank()
        writer.line("/// Passes the refused credential to every source.")
        writer.block("\(access)func refuse(_ credential: ApiCredential)") { $0.line("source.refuse(credential)") }
    }

    private func item(
        _ key: String,
        _ name: String,
        _ node: Node
    ) -> (name: String, key: String, documentation: String, factory: [String]) {
        let escaped = Identifier.escaped(name)
        func factory(_ parameters: String, _ credential: String) -> [String] {
            [
                "/// Uses only the scheme `\(PlainText.line(key))`.",
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
            let cookie = PlainText.literal(node["name"]?.string ?? "key")
            return (name, key, "A key in a cookie.", factory("_ key: String", ".apiKey(key, inCookie: \(cookie))"))
        case ("http", _, "basic"):
            let code = ".basic(user: user, password: password)"
            return (name, key, "A user and a password.", factory("user: String, password: String", code))
        case ("http", _, "bearer"), ("oauth2", _, _), ("openIdConnect", _, _):
            return (name, key, "A bearer token.", factory("_ token: String", ".bearer(token)"))
        default:
            warnings.add(node, "this security scheme is not supported; write your own credential source for it")
            return (name, key, "Your own source.", [])
        }
    }
}

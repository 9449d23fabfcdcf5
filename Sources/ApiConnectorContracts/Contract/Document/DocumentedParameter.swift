// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A parameter of an operation, in its path, query, header fields or cookies.
struct DocumentedParameter: Sendable {
    enum Place: String, Sendable {
        case path, query, header, cookie, querystring
    }

    enum Style: String, Sendable {
        case simple, label, matrix, form, spaceDelimited, pipeDelimited, deepObject, cookie
    }

    let name: String
    let place: Place
    let isRequired: Bool
    let style: Style
    let explodes: Bool
    let node: JSONNode
    /// The schema of a value with a style; nil for a value with a media type.
    let schema: JSONNode?
    /// The media type of a value, with its schema; nil for a value with a style.
    let content: (key: String, schema: JSONNode?)?

    /// The parameters of an operation, including the parameters of its path items.
    static func all(of operation: JSONNode, in items: [JSONNode]) -> [DocumentedParameter] {
        var found: [DocumentedParameter] = []
        for owner in [operation] + items {
            found += (owner["parameters"]?.elements ?? []).compactMap(Self.init).filter { other in
                !found.contains { $0.name == other.name && $0.place == other.place }
            }
        }
        return found
    }

    private init?(_ node: JSONNode) {
        guard let node = node.resolved, let place = node.text("in").flatMap(Place.init),
            let name = node.text("name") ?? (place == .querystring ? "" : nil)
        else { return nil }
        self.init(node, name: name, in: place)
    }

    /// Makes a parameter whose name and place are known, a header field of a response, or a field of a form.
    ///
    /// - Parameter schema: The schema of a field of a form; nil if the node itself has the schema.
    init(_ node: JSONNode, name: String, in place: Place, schema: JSONNode? = nil) {
        self.node = node
        self.name = name
        self.place = place
        isRequired = node.isTrue("required") || place == .path
        let usual: Style = place == .query || place == .cookie ? .form : .simple
        style = node.text("style").flatMap(Style.init) ?? usual
        explodes = node["explode"]?.value.bool ?? (style == .form || style == .cookie)
        self.schema = schema ?? node["schema"]
        content = node["content"]?.members.first.map { ($0.key, $0.node.resolved?["schema"]) }
    }

    /// Whether it is a header field that OpenAPI does not describe as a parameter.
    var isIgnored: Bool {
        place == .header && ["accept", "content-type", "authorization"].contains(name.lowercased())
    }

    /// Whether its values are secret and must not occur in texts.
    var isSecret: Bool {
        place == .cookie || Redactor.standard.isSecret(queryItem: name)
            || place == .header && Redactor.standard.isSecret(header: HTTPHeaders.Name(name))
    }

    /// The parameter's name in a text.
    var subject: String {
        switch place {
        case .path: "the path parameter \"\(name)\""
        case .query: "the query parameter \"\(name)\""
        case .header: "the header field \"\(name)\""
        case .cookie: "the cookie \"\(name)\""
        case .querystring: "the query"
        }
    }

    /// Why a number of items with the parameter's name does not fit the style; nil if it does.
    func flaw(ofItemCount count: Int) -> String? {
        if count <= 1 || explodes || style == .deepObject { return nil }
        return "it occurs \(count) times, but without explode it is one item"
    }

    /// Why a text from a path does not have the parameter's style; nil if it has the style.
    func flaw(ofPathValue text: String, isObject: Bool) -> String? {
        let start =
            switch style {
            case .label: "."
            case .matrix: explodes && isObject ? ";" : ";\(name)"
            default: ""
            }
        if text.hasPrefix(start) { return nil }
        return "it does not start with \"\(start)\", as the style \(style.rawValue) requires"
    }

    /// The text between two elements, both plain and percent-encoded.
    var delimiters: [String] {
        switch style {
        case .spaceDelimited: ["%20", "+", " "]
        case .pipeDelimited: ["%7C", "%7c", "|"]
        case .label where explodes: ["."]
        default: [","]
        }
    }
}

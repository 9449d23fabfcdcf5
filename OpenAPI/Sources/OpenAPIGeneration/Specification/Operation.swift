// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An operation: a method of a path.
struct Operation {
    let node: Node
    let method: String
    let path: String
    let id: String?
    let tags: [String]
    let summary: String?
    let isDeprecated: Bool
    var parameters: [Parameter] = []
    var body: BodyContent?
    var responses: [Response] = []
    /// The warnings of the operation itself, its parameters, bodies and responses.
    var warnings: [Warning] = []
    /// The alternatives of `security`, each a list of schemes; nil if the document's default applies.
    var security: [[String]]?

    /// The name from which the function's name is made, and by which the configuration renames it.
    var wantedName: String { id ?? method + " " + path }

    /// The method and the path, which name the operation in texts.
    var title: String { "\(method.uppercased()) \(path)" }
}

/// A value that a request carries outside its body.
struct Parameter {
    enum Location: String {
        case path, query, header, cookie
        /// The whole query, since OpenAPI 3.2.
        case querystring
    }

    let node: Node
    let name: String
    let location: Location
    let isRequired: Bool
    let schema: Node?
    /// The media type of a parameter with `content`.
    let mediaType: String?
    let style: String
    let explode: Bool
    let documentation: String?
    let isDeprecated: Bool

    /// Whether the value is written as JSON.
    var isJSON: Bool { mediaType.map { ContentKind($0) == .json } ?? false }
}

/// The body of a request.
struct BodyContent {
    let node: Node
    let isRequired: Bool
    let contents: [Content]
}

/// A body in one media type.
struct Content {
    let node: Node
    let mediaType: String
    /// The schema of the body.
    ///
    /// For a stream, the schema of one element.
    let schema: Node?
    let kind: ContentKind

    /// Makes the body of a media type.
    ///
    /// - Parameter target: The schema to which references in `schema` lead.
    init(node: Node, mediaType: String, schema: Node?, target: Node?) {
        self.node = node
        self.mediaType = mediaType
        self.schema = schema
        let kind = ContentKind(mediaType)
        // A range of media types does not determine the kind, so the schema decides.
        let isBinary = target?["type"]?.string == "string" && target?["format"]?.string == "binary"
        self.kind = kind == .json && isBinary ? .binary : kind
    }
}

/// A documented response.
struct Response {
    let node: Node
    /// `200`, `4XX` or `default`.
    let status: String
    let contents: [Content]
    /// The links by name, with their references resolved.
    var links: [Node.Member] = []

    var isSuccess: Bool { status.hasPrefix("2") }
    var isInformation: Bool { status.hasPrefix("1") }
    var isRedirect: Bool { status.hasPrefix("3") }
}

/// How a body of a media type is encoded or decoded.
enum ContentKind: Hashable {
    case json, form, multipart, text, binary
    case events, lines, sequence

    init(_ mediaType: String) {
        let essence = mediaType.split(separator: ";").first.map { $0.lowercased() } ?? ""
        let name = essence.filter { $0 != " " }
        let subtype = name.split(separator: "/").last.map(String.init) ?? ""
        switch name {
        case "application/x-www-form-urlencoded": self = .form
        case "text/event-stream": self = .events
        case "application/x-ndjson", "application/jsonl", "application/ndjson", "application/x-jsonlines":
            self = .lines
        case "application/json-seq", "application/geo+json-seq": self = .sequence
        case "*/*", "application/*": self = .json
        default:
            if subtype == "json" || subtype.hasSuffix("+json") || subtype.hasPrefix("json+") {
                self = .json
            } else if name.hasPrefix("multipart/") {
                self = .multipart
            } else if name.hasPrefix("text/") || subtype == "xml" || subtype.hasSuffix("+xml") || subtype == "sdp" {
                self = .text
            } else {
                self = .binary
            }
        }
    }

    /// Whether a media type means merge patches (RFC 7396).
    static func isMergePatch(_ mediaType: String) -> Bool {
        mediaType.lowercased().split(separator: ";").first == "application/merge-patch+json"
    }

    var isStream: Bool { self == .events || self == .lines || self == .sequence }
}

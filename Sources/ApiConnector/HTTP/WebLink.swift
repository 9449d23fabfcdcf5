// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A link in a response's `Link` fields (RFC 8288).
///
/// ```swift
/// let response = try await api.response(of: [Post].self, at: .posts)
/// let last = response.head.links.first { $0.has(relation: "last") }?.target
/// ```
public struct WebLink: Sendable, Hashable {
    /// An attribute of the link's target, such as `type` or `title`.
    public struct Attribute: Sendable, Hashable {
        /// The name in lower case, without a trailing asterisk.
        public let name: String
        /// The unquoted and decoded value; empty if the link has none.
        public let value: String

        /// Makes an attribute.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The URL that the link leads to, resolved against the response's URL.
    public let target: URL

    /// The relations of the target to the context, in lower case; never empty.
    public let relations: [String]

    /// The resource that the link belongs to: the response's URL, or the link's `anchor`.
    public let context: URL

    /// The other attributes of the link, in order.
    ///
    /// `name*` (RFC 8187) is listed as `name`, and replaces `name` if the link has both.
    public let attributes: [Attribute]

    /// Makes a link, for example for a test.
    public init(target: URL, relations: [String], context: URL, attributes: [Attribute] = []) {
        self.target = target
        self.relations = relations
        self.context = context
        self.attributes = attributes
    }

    /// Whether the link has a relation, such as `next`; case does not matter.
    public func has(relation: String) -> Bool {
        relations.contains(relation.lowercased())
    }

    /// The first value of an attribute, whose name can have any case; nil if there is none.
    public subscript(attribute name: String) -> String? {
        let name = name.lowercased()
        return attributes.first { $0.name == name }?.value
    }

    /// The links in a response's header fields, parsed as in RFC 8288, appendix B.2.
    ///
    /// If a field is malformed, the links before the error are returned. A link without a relation is ignored.
    ///
    /// - Parameters:
    ///   - headers: The response's header fields.
    ///   - url: The URL of the response, against which relative references are resolved.
    /// - Complexity: O(*n*) in the length of the fields.
    public static func links(in headers: HTTPHeaders, of url: URL) -> [WebLink] {
        headers.values(.link).flatMap { LinkFieldParser.links(in: $0, of: url) }
    }
}

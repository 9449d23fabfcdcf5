// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A link of a response's `Link` fields (RFC 8288).
///
/// ```swift
/// let response = try await api.response(of: [Post].self, at: .posts)
/// let last = response.head.links.first { $0.has(relation: "last") }?.target
/// ```
public struct WebLink: Sendable, Hashable {
    /// Something the link says about its target, such as `type` or `title`.
    public struct Attribute: Sendable, Hashable {
        /// The name in lower case; without the asterisk where it had one.
        public let name: String
        /// The value, unquoted and decoded; empty where the link gives none.
        public let value: String

        /// Makes an attribute.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Where it leads: the reference resolved against the response's URL.
    public let target: URL

    /// What the target is to the context, in lower case; never empty.
    public let relations: [String]

    /// What the link is about: the response's URL, unless the link's `anchor` says something else.
    public let context: URL

    /// Everything else that the link says, in order.
    ///
    /// `name*` (RFC 8187) stands for `name`, and replaces it where the link has both.
    public let attributes: [Attribute]

    /// Makes a link, such as for a test.
    public init(target: URL, relations: [String], context: URL, attributes: [Attribute] = []) {
        self.target = target
        self.relations = relations
        self.context = context
        self.attributes = attributes
    }

    /// Whether the target is that to the context, such as `next`; compared without case.
    public func has(relation: String) -> Bool {
        relations.contains(relation.lowercased())
    }

    /// The first value of an attribute, by its name in any case; nil where there is none.
    public subscript(attribute name: String) -> String? {
        let name = name.lowercased()
        return attributes.first { $0.name == name }?.value
    }

    /// The links of a response's header fields, read as RFC 8288, appendix B.2, says.
    ///
    /// Of a field that is not well formed the links before the fault are given; a link without a relation is ignored.
    ///
    /// - Parameters:
    ///   - headers: The response's header fields.
    ///   - url: Where the response came from, for references that are relative.
    /// - Complexity: O(*n*) in the length of the fields.
    public static func links(in headers: HTTPHeaders, of url: URL) -> [WebLink] {
        headers.values(.link).flatMap { LinkFieldParser.links(in: $0, of: url) }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ResponseHead {
    /// The links in the response's `Link` fields; see ``WebLink/links(in:of:)``.
    public var links: [WebLink] { WebLink.links(in: headers, of: url) }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The same request to another host, without what is secret unless the host may see it.
    func moved(to origin: Origin, from own: Origin, showing credentials: CredentialScope) -> ApiRequest? {
        guard origin != own else { return self }
        var moved = self
        guard let url = url.moved(to: origin) else { return nil }
        moved.url = url
        moved.headers.remove(.host)
        guard !credentials.admits(moved) else { return moved }
        for field in moved.headers where redactor.isSecret(header: field.name) { moved.headers.remove(field.name) }
        guard let shown = moved.url.removingQueryItems(where: redactor.isSecret(queryItem:)) else { return nil }
        moved.url = shown
        return moved
    }
}

extension URL {
    /// The same path, query and fragment at another origin; user info is left out.
    func moved(to origin: Origin) -> URL? {
        let text = absoluteString
        guard let start = text.range(of: "://")?.upperBound else { return nil }
        let rest = text[start...].firstIndex { "/?#".contains($0) }.map { text[$0...] } ?? ""
        return URL(string: origin.description + rest)
    }

    /// Nil for a query that cannot be read.
    fileprivate func removingQueryItems(where isSecret: (String) -> Bool) -> URL? {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        guard let items = components.percentEncodedQueryItems else { return self }
        let kept = items.filter { !isSecret($0.name.removingPercentEncoding ?? $0.name) }
        guard kept.count < items.count else { return self }
        components.percentEncodedQueryItems = kept.isEmpty ? nil : kept
        return components.url
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// The same request to another host; nil for one that may not see it: its secrets, or a body, whatever is in it.
    ///
    /// Without its secrets it would be another request: that one is refused says nothing about the credential.
    func moved(to origin: Origin, from own: Origin, showing credentials: CredentialScope) -> ApiRequest? {
        guard origin != own else { return self }
        var moved = self
        guard let url = url.moved(to: origin) else { return nil }
        moved.url = url
        moved.credentialGuard = nil
        moved.headers.remove(.host)
        if credentials.admits(moved) { return moved }
        guard body.isEmpty, credentialParts(known: redactor).isEmpty else { return nil }
        moved.withholdCredentials()
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
}

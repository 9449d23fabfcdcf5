// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Which servers may be shown a credential: none but these, whatever a redirect or a link says.
///
/// An origin is a scheme, a host and a port, so a credential for https never goes over http.
public struct CredentialScope: Sendable {
    private let includesConnection: Bool
    private let others: Set<HTTPOrigin>

    private init(includesConnection: Bool, others: [URL]) {
        self.includesConnection = includesConnection
        self.others = Set(others.compactMap { HTTPOrigin($0) })
    }

    /// The origin of the connection's environment; the default.
    ///
    /// A request made by hand, which has no connection, is sent without a credential.
    public static let connection = CredentialScope(includesConnection: true, others: [])

    /// The origin of the connection's environment, and those of some URLs.
    public static func connection(and others: URL...) -> CredentialScope {
        CredentialScope(includesConnection: true, others: others)
    }

    /// The origins of some URLs and no others, for requests of a connection as for those made by hand.
    public static func origins(_ urls: URL...) -> CredentialScope {
        CredentialScope(includesConnection: false, others: urls)
    }

    /// Whether a request goes to one of these origins, so that it may show the credential.
    public func admits(_ request: ApiRequest) -> Bool {
        if includesConnection, request.isToOwnOrigin == true { return true }
        guard !others.isEmpty, let origin = HTTPOrigin(request.url) else { return false }
        return others.contains(origin)
    }
}

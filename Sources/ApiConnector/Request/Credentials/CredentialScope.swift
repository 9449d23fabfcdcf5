// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The origins that may get a credential.
///
/// No redirect or link can add an origin.
///
/// An origin is a scheme, a host and a port, so a credential for https is never sent over http.
public struct CredentialScope: Sendable {
    private let includesConnection: Bool
    private let others: Set<HTTPOrigin>

    private init(includesConnection: Bool, others: [URL]) {
        self.includesConnection = includesConnection
        self.others = Set(others.compactMap { HTTPOrigin($0) })
    }

    /// The origin of the connection's environment; the default.
    ///
    /// A request without a connection does not get the credential.
    public static let connection = CredentialScope(includesConnection: true, others: [])

    /// The origin of the connection's environment, and the origins of the given URLs.
    public static func connection(and others: URL...) -> CredentialScope {
        CredentialScope(includesConnection: true, others: others)
    }

    /// Only the origins of the given URLs, for requests with or without a connection.
    public static func origins(_ urls: URL...) -> CredentialScope {
        CredentialScope(includesConnection: false, others: urls)
    }

    /// Whether a request goes to one of these origins and may therefore contain the credential.
    public func admits(_ request: ApiRequest) -> Bool {
        if includesConnection, request.isToOwnOrigin == true { return true }
        guard !others.isEmpty, let origin = HTTPOrigin(request.url) else { return false }
        return others.contains(origin)
    }
}

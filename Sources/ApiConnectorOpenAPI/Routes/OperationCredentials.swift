// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The credentials that the operations of a document require.
///
/// It has one source per security scheme, and adds the credentials that the operation's `security` names. Generated
/// clients have their own type with a parameter for each scheme.
///
/// A request whose route is not an ``OperationRouter`` gets no credential.
public struct OperationCredentials: CredentialSource {
    private let sources: [String: any CredentialSource]
    private let security: [[String]]

    /// Takes the source of each security scheme.
    ///
    /// - Parameters:
    ///   - sources: The sources by the scheme's name in the document. A scheme whose source is nil is not used.
    ///   - security: The schemes for operations that do not name their own, as alternatives of one or more schemes.
    public init(_ sources: [String: (any CredentialSource)?], security: [[String]]) {
        self.sources = sources.compactMapValues(\.self)
        self.security = security
    }

    /// The credentials of the operation's first alternative for which all sources exist; nil without one.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        guard let route = request.route as? any OperationRouter else { return nil }
        for schemes in route.parts.security ?? security {
            let found = schemes.compactMap { sources[$0] }
            guard !found.isEmpty, found.count == schemes.count else { continue }
            var credentials: [ApiCredential] = []
            for source in found {
                guard let credential = try await source.credential(for: request) else { return nil }
                credentials.append(credential)
            }
            return credentials.count == 1 ? credentials[0] : .all(credentials)
        }
        return nil
    }

    /// Passes the refused credential to every source.
    public func refuse(_ credential: ApiCredential) {
        for part in credential.parts {
            for source in sources.values { source.refuse(part) }
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What shows a server who asks: a token, a password, a key, or a signature of each request.
///
/// It prints as its kind alone.
public struct ApiCredential: Sendable {
    private enum Form: Sendable {
        case header(HTTPHeaders.Name, String)
        case queryItem(String, String)
        case signature(any RequestSigner)
        case all([ApiCredential])
        case perRequest(@Sendable (ApiRequest) async throws -> ApiCredential?)
    }

    private let form: Form
    private let ownSecrets: OwnSecrets?

    /// When it ceases to be valid; nil where that is not known.
    public let expiry: Date?

    /// Which of its source's credentials it is; 0 by default.
    ///
    /// A request whose credential was refused is sent again with one of another version only.
    /// ``RefreshableCredentials`` counts by itself; your own source that replaces credentials does it.
    public var version = 0

    /// Whether it was made while the call waited for it, so that a further refusal is not for its age.
    var isFresh = false

    private init(_ form: Form, expiry: Date? = nil, ownSecrets: OwnSecrets? = nil) {
        self.form = form
        self.expiry = expiry
        self.ownSecrets = ownSecrets
    }

    /// A token in `Authorization: Bearer …` (RFC 6750).
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - expiry: When it ceases to be valid; not known by default.
    public static func bearer(_ token: String, until expiry: Date? = nil) -> ApiCredential {
        ApiCredential(.header(.authorization, "Bearer \(token)"), expiry: expiry)
    }

    /// A name and a password in `Authorization: Basic …`, in UTF-8 (RFC 7617); a name with a colon does not work there.
    public static func basic(user: String, password: String) -> ApiCredential {
        let pair = Data("\(user):\(password)".utf8).base64EncodedString()
        return ApiCredential(.header(.authorization, "Basic \(pair)"))
    }

    /// A key in a header field; `X-Api-Key` by default.
    public static func apiKey(_ key: String, inHeader name: HTTPHeaders.Name = "X-Api-Key") -> ApiCredential {
        ApiCredential(.header(name, key), ownSecrets: OwnSecrets(headerNames: [name]))
    }

    /// A key in an item of the query.
    public static func apiKey(_ key: String, inQuery name: String) -> ApiCredential {
        ApiCredential(.queryItem(name, key), ownSecrets: OwnSecrets(queryItemNames: [name]))
    }

    /// A signature of each request.
    ///
    /// - Parameters:
    ///   - signer: What signs.
    ///   - expiry: When the key ceases to be valid; not known by default.
    public static func signature(by signer: some RequestSigner, until expiry: Date? = nil) -> ApiCredential {
        let ownSecrets = OwnSecrets(headerNames: signer.secretHeaderNames)
        return ApiCredential(.signature(signer), expiry: expiry, ownSecrets: ownSecrets)
    }

    /// Several credentials together, for a backend that wants each of them in one request.
    ///
    /// The expiry is that of the credential that ends first, and the version is the sum of the versions.
    public static func all(_ credentials: [ApiCredential]) -> ApiCredential {
        var together = ApiCredential(.all(credentials), expiry: credentials.compactMap(\.expiry).min())
        together.version = credentials.reduce(0) { $0 &+ $1.version }
        together.isFresh = credentials.contains(where: \.isFresh)
        return together
    }

    /// A credential for each request, such as by its route or a tenant.
    ///
    /// ```swift
    /// let provider = SystemProvider().authenticating(
    ///     by: ApiCredential.perRequest { request in request.routeName == "admin" ? .bearer(adminToken) : nil }
    /// )
    /// ```
    ///
    /// The closure is called before each time that a request is sent, and again after a 401. It should be quick, and stop
    /// when its task is canceled.
    ///
    /// - Parameter lookUp: Finds the credential; `nil` sends the request without one. An error that is not an
    ///   ``ApiConnectorError`` fails the call with kind `.credentialsUnavailable`.
    public static func perRequest(
        _ lookUp: @escaping @Sendable (ApiRequest) async throws -> ApiCredential?
    ) -> ApiCredential {
        ApiCredential(.perRequest(lookUp))
    }

    /// The credentials that ``all(_:)`` put together; the credential itself for any other.
    ///
    /// A source that asks several others tells each of them in ``CredentialSource/refuse(_:)`` which one was refused.
    public var parts: [ApiCredential] {
        if case .all(let credentials) = form { credentials.flatMap(\.parts) } else { [self] }
    }

    /// The header field that it goes by; nil where it goes otherwise.
    var fieldName: HTTPHeaders.Name? {
        if case .header(let name, _) = form { name } else { nil }
    }

    /// Puts the credential into a request.
    ///
    /// - Returns: Whether it did: a field or item of that name that the call itself has set is left alone.
    func authorize(_ request: inout ApiRequest) async throws(ApiConnectorError) -> Bool {
        switch form {
        case .header(let name, let value):
            guard !request.headers.contains(name) else { return false }
            request.headers.append(name, value)
        case .queryItem(let name, let value):
            guard let url = request.url.appending(secretItem: name, value) else { return false }
            request.url = url
        case .signature(let signer):
            try await signer.sign(&request)
        case .all(let credentials):
            var isAuthorized = false
            for credential in credentials {
                if try await credential.authorize(&request) { isAuthorized = true }
            }
            return isAuthorized
        case .perRequest:
            return try await credential(for: request)?.authorize(&request) ?? false
        }
        request.ownSecrets = .joining(request.ownSecrets, ownSecrets)
        return true
    }
}

extension ApiCredential: CredentialSource {
    /// The credential itself; of ``perRequest(_:)``, what its closure finds.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.credentialsUnavailable` for any other error that the closure throws.
    public func credential(for request: ApiRequest) async throws(ApiConnectorError) -> ApiCredential? {
        guard case .perRequest(let lookUp) = form else { return self }
        do {
            return try await lookUp(request)
        } catch let error as ApiConnectorError {
            throw error
        } catch {
            throw .credentialsUnavailable("there is no credential", because: error)
        }
    }
}

extension ApiCredential: CustomStringConvertible, CustomReflectable {
    /// Where it stands, without the secret.
    public var description: String {
        switch form {
        case .header(let name, let value): "\(name): \(Redactor(headerNames: [name]).redact(value, ofHeader: name))"
        case .queryItem(let name, _): "\(name)=\(Redactor.replacement)"
        case .signature: "signature"
        case .all(let credentials): credentials.map(\.description).joined(separator: ", ")
        case .perRequest: "a credential for each request"
        }
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension URL {
    /// The URL with one more item in its query, before a fragment; nil where there is one of that name.
    fileprivate func appending(secretItem name: String, _ value: String) -> URL? {
        let encodedName = PercentEncoding.encode(name, keeping: .unreserved)
        let query = query(percentEncoded: true) ?? ""
        let isTaken = query.split(separator: "&").contains { item in
            let itemName = item.prefix { $0 != "=" }
            return itemName == encodedName || itemName.removingPercentEncoding == name
        }
        guard !isTaken else { return nil }
        let parts = absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let separator = parts[0].contains("?") ? (parts[0].hasSuffix("?") || parts[0].hasSuffix("&") ? "" : "&") : "?"
        let item = "\(separator)\(encodedName)=\(PercentEncoding.encode(value, keeping: .unreserved))"
        return URL(string: parts[0] + item + (parts.count == 2 ? "#\(parts[1])" : ""))
    }
}

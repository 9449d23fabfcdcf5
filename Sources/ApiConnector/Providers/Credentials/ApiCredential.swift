// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Authenticates requests: a token, a password, a key, or a signature of each request.
///
/// Its description shows where the credential is in a request, but not the secret.
public struct ApiCredential: Sendable {
    private enum Form: Sendable {
        case header(HTTPHeaders.Name, String)
        case queryItem(String, String)
        case cookie(String, String)
        case signature(any RequestSigner)
        case all([ApiCredential])
        case perRequest(@Sendable (ApiRequest) async throws -> ApiCredential?)
    }

    private let form: Form
    private let ownSecrets: OwnSecrets?

    /// When the credential expires; nil if unknown.
    ///
    /// A credential without an expiry is used until a server refuses it.
    public var expiry: Date?

    /// The version number that the source gives to the credential; 0 by default.
    ///
    /// After a 401, a request is only sent again if the source returns a credential with another version.
    /// ``RefreshableCredentials`` counts the versions itself. Your own source has to increment the version when it
    /// replaces a credential.
    public var version = 0

    /// Whether a refresh or a sign-in created the credential while the call waited.
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
    ///   - expiry: When the token expires; unknown by default.
    public static func bearer(_ token: String, until expiry: Date? = nil) -> ApiCredential {
        ApiCredential(.header(.authorization, "Bearer \(token)"), expiry: expiry)
    }

    /// A user name and a password in `Authorization: Basic …`, in UTF-8 (RFC 7617).
    ///
    /// The name must not contain a colon.
    public static func basic(user: String, password: String) -> ApiCredential {
        let pair = Data("\(user):\(password)".utf8).base64EncodedString()
        return ApiCredential(.header(.authorization, "Basic \(pair)"))
    }

    /// A key in a header field; `X-Api-Key` by default.
    public static func apiKey(_ key: String, inHeader name: HTTPHeaders.Name = "X-Api-Key") -> ApiCredential {
        ApiCredential(.header(name, key), ownSecrets: OwnSecrets(headerNames: [name]))
    }

    /// A key in a query item.
    public static func apiKey(_ key: String, inQuery name: String) -> ApiCredential {
        ApiCredential(.queryItem(name, key), ownSecrets: OwnSecrets(queryItemNames: [name]))
    }

    /// A key in a cookie, next to the request's other cookies.
    public static func apiKey(_ key: String, inCookie name: String) -> ApiCredential {
        ApiCredential(.cookie(name, key), ownSecrets: OwnSecrets(headerNames: [.cookie]))
    }

    /// A signature of each request.
    ///
    /// - Parameters:
    ///   - signer: Signs the requests.
    ///   - expiry: When the key expires; unknown by default.
    public static func signature(by signer: some RequestSigner, until expiry: Date? = nil) -> ApiCredential {
        let ownSecrets = OwnSecrets(headerNames: signer.secretHeaderNames)
        return ApiCredential(.signature(signer), expiry: expiry, ownSecrets: ownSecrets)
    }

    /// Several credentials, for a backend that requires all of them in one request.
    ///
    /// The expiry is the earliest one, and the version is the sum of the versions.
    public static func all(_ credentials: [ApiCredential]) -> ApiCredential {
        var together = ApiCredential(.all(credentials), expiry: credentials.compactMap(\.expiry).min())
        together.version = credentials.reduce(0) { $0 &+ $1.version }
        together.isFresh = credentials.contains(where: \.isFresh)
        return together
    }

    /// A credential chosen for each request, for example by its route or a tenant.
    ///
    /// ```swift
    /// let provider = SystemProvider().authenticating(
    ///     by: ApiCredential.perRequest { request in request.routeName == "admin" ? .bearer(adminToken) : nil }
    /// )
    /// ```
    ///
    /// The closure is called for each request that passes the provider, and again after a 401. It should be fast, and
    /// stop when its task is canceled.
    ///
    /// - Parameter lookUp: Returns the credential; `nil` sends the request without one. If it throws an error other
    ///   than an ``ApiConnectorError``, the call fails with kind `.credentialsUnavailable`.
    public static func perRequest(
        _ lookUp: @escaping @Sendable (ApiRequest) async throws -> ApiCredential?
    ) -> ApiCredential {
        ApiCredential(.perRequest(lookUp))
    }

    /// The credentials that ``all(_:)`` combined; otherwise the credential itself.
    ///
    /// A source that combines other sources needs the parts in ``CredentialSource/refuse(_:)``, to pass each source its
    /// own part.
    public var parts: [ApiCredential] {
        if case .all(let credentials) = form { credentials.flatMap(\.parts) } else { [self] }
    }

    /// The name of the credential's header field; nil if it uses another place.
    var fieldName: HTTPHeaders.Name? {
        if case .header(let name, _) = form { name } else { nil }
    }

    /// Adds the credential to a request.
    ///
    /// - Returns: Whether the credential was added; false if the request already has a header field, query item or cookie
    ///   with that name.
    func add(to request: inout ApiRequest) async throws(ApiConnectorError) -> Bool {
        switch form {
        case .header(let name, let value):
            guard !request.headers.contains(name) else { return false }
            request.headers.append(name, value)
        case .queryItem(let name, let value):
            guard let url = request.url.appending(secretItem: name, value) else { return false }
            request.url = url
        case .cookie(let name, let value):
            let cookies = request.headers.values(.cookie).joined(separator: "; ")
            let isTaken = cookies.split(separator: ";").contains { $0.drop { $0 == " " }.hasPrefix(name + "=") }
            guard !isTaken else { return false }
            request.headers[.cookie] = cookies + (cookies.isEmpty ? "" : "; ") + "\(name)=\(value)"
        case .signature(let signer):
            try await signer.sign(&request)
        case .all(let credentials):
            var isAuthorized = false
            for credential in credentials {
                if try await credential.add(to: &request) { isAuthorized = true }
            }
            return isAuthorized
        case .perRequest:
            return try await credential(for: request)?.add(to: &request) ?? false
        }
        request.add(ownSecrets)
        return true
    }
}

extension ApiCredential: CredentialSource {
    /// Returns the credential itself; for ``perRequest(_:)``, the result of its closure.
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
    /// Where the credential is in a request, without the secret.
    public var description: String {
        switch form {
        case .header(let name, let value): "\(name): \(Redactor(headerNames: [name]).redact(value, ofHeader: name))"
        case .queryItem(let name, _): "\(name)=\(Redactor.replacement)"
        case .cookie(let name, _): "Cookie: \(name)=\(Redactor.replacement)"
        case .signature: "signature"
        case .all(let credentials): credentials.map(\.description).joined(separator: ", ")
        case .perRequest: "a credential for each request"
        }
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension URL {
    /// The URL with a query item appended before the fragment; nil if it already has an item with that name.
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

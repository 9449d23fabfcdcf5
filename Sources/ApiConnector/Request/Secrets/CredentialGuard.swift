// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The secrets that a request to a foreign origin may contain: those that it had when this guard was created.
///
/// A wrapper receives each hop of the redirects, and may set the same credential on each hop. Such a credential is
/// removed immediately. The target of a redirect keeps its own query, which the server chose, for example the signature
/// of a presigned URL.
final class CredentialGuard: Sendable {
    private let fields: [HTTPHeaders.Field]
    private let items: Set<[String]>
    private let userInfo: [String?]

    init(_ request: ApiRequest) {
        let redactor = request.redactor
        fields = request.headers.filter { redactor.isSecret($0) }
        items = Set(Self.items(of: request.url).filter { redactor.isSecret(encodedItem: $0) }.map(Self.decoded))
        userInfo = Self.userInfo(of: request.url)
    }

    /// Whether the request may contain a field.
    func admits(_ field: HTTPHeaders.Field, _ redactor: Redactor) -> Bool {
        !redactor.isSecret(field)
            || fields.contains { $0.name == field.name && $0.value == field.value }
    }

    /// The URL without secrets that were added to it.
    func admitted(_ url: URL, _ redactor: Redactor) -> URL {
        let userInfo = Self.userInfo(of: url)
        return Self.url(url, withoutUserInfo: userInfo != self.userInfo && userInfo != [nil, nil]) {
            redactor.isSecret(encodedItem: $0) && !items.contains(Self.decoded($0))
        }
    }

    /// The URL without secrets that it shares with an earlier URL.
    static func url(_ url: URL, withoutSecretsOf old: URL, _ redactor: Redactor) -> URL {
        let oldItems = Set(items(of: old).map(decoded))
        let userInfo = userInfo(of: url)
        return Self.url(url, withoutUserInfo: userInfo == Self.userInfo(of: old) && userInfo != [nil, nil]) {
            redactor.isSecret(encodedItem: $0) && oldItems.contains(decoded($0))
        }
    }

    private static func url(
        _ url: URL,
        withoutUserInfo hidesUser: Bool,
        withoutItems isRefused: (Substring) -> Bool
    ) -> URL {
        let items = items(of: url)
        let kept = items.filter { !isRefused($0) }
        guard hidesUser || kept.count < items.count else { return url }
        var text = url.absoluteString
        if kept.count < items.count, let mark = text.firstIndex(of: "?") {
            let end = text[mark...].firstIndex(of: "#") ?? text.endIndex
            text.replaceSubrange(mark..<end, with: kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
        }
        if hidesUser, let start = text.range(of: "://")?.upperBound {
            let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
            if let at = text[start..<end].lastIndex(of: "@") { text.removeSubrange(start...at) }
        }
        // If the remaining text is not a URL, all parts that may contain a secret are removed.
        return URL(string: text) ?? url.withoutQueryAndUser
    }

    private static func items(of url: URL) -> [Substring] {
        (url.query(percentEncoded: true) ?? "").split(separator: "&", omittingEmptySubsequences: false)
    }

    /// The decoded name and value, because a wrapper may encode an existing item differently.
    private static func decoded(_ item: Substring) -> [String] {
        item.split(separator: "=", maxSplits: 1).map(\.formDecoded)
    }

    private static func userInfo(of url: URL) -> [String?] {
        [url.user(percentEncoded: true), url.password(percentEncoded: true)]
    }
}

extension HTTPHeaders {
    /// Removes the fields that are for one origin only: those with secret names, or with values in the form of a
    /// credential.
    mutating func removeSecrets(known redactor: Redactor = .standard) {
        removeAll { redactor.isSecret($0) }
    }
}

extension Redactor {
    /// Whether a query item, as written in the URL, has a secret name, or a value in the form of a credential.
    func isSecret(encodedItem item: Substring) -> Bool {
        let name = Substring(item.utf8.prefix { $0 != UInt8(ascii: "=") })
        let value = Substring(item.utf8.dropFirst(name.utf8.count + 1))
        return isSecret(queryItem: name.formDecoded) || CredentialForm.fits(value.formDecoded)
    }
}

extension Substring {
    /// A name or a value of a query, decoded; a plus sign means a space.
    fileprivate var formDecoded: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }) else { return String(self) }
        let spaced = replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

extension URL {
    /// Scheme, host, port and path.
    var withoutQueryAndUser: URL {
        var parts = URLComponents()
        parts.scheme = scheme
        parts.host = host()
        parts.port = port
        parts.path = path()
        return parts.url ?? URL(filePath: "/")
    }
}

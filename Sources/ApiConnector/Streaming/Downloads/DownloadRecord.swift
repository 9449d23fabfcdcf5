// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Describes the download of a part file; stored next to the file, so that a later run can resume it.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// The URL as ``text(of:)`` writes it.
    let url: String

    /// The strong validator of the version, for `If-Range`.
    let validator: String

    /// The length of the whole file; nil if the server does not announce it.
    let totalByteCount: Int?

    init(url: String, validator: String, totalByteCount: Int?) {
        self.url = url
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}

extension DownloadRecord {
    /// The text that tells whether two downloads are of the same URL, without secrets.
    ///
    /// A signature and its items are left out, because each call may have a new one. Any other secret, such as `key`,
    /// may name the file. It is replaced, and a checksum of the URL is added.
    static func text(of url: URL) -> String {
        let whole = withoutSignature(url.textWithoutDefaultPort)
        let shown = Redactor.standard.redact(urlText: whole)
        return shown == whole ? whole : "\(shown) \(checksum(of: whole))"
    }

    /// The names of a signature's items, and of an access token, as ``SecretNames/normalized(_:)`` writes them.
    private static let signatureNames: Set<String> = [
        "accesstoken", "awsaccesskeyid", "expires", "hdnea", "hdnts", "securitytoken", "sig", "signature",
    ]

    /// The items that change with a signature: the dates of Azure, and the policy of CloudFront.
    private static let signedNames: [String: [String]] = ["sig": ["se", "ske", "skt", "st"], "signature": ["policy"]]

    private static func withoutSignature(_ url: String) -> String {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        guard let mark = url[..<end].firstIndex(of: "?") else { return url }
        let start = url.index(after: mark)
        let items = url[start..<end].split(separator: "&", omittingEmptySubsequences: false)
        let names = items.map { item in
            let name = item.prefix { $0 != "=" }
            return SecretNames.normalized(name.removingPercentEncoding ?? String(name))
        }
        var ignored = signatureNames
        for (signature, others) in signedNames where names.contains(signature) { ignored.formUnion(others) }
        let kept = zip(items, names).filter { item, name in
            !ignored.contains(name) && !name.hasPrefix("xamz") && !name.hasPrefix("xgoog")
        }
        .map { $0.0 }
        return "\(url[..<start])\(kept.joined(separator: "&"))\(url[end...])"
    }

    /// 16 bits: too few to find out a long secret, and enough to notice that a URL has another one.
    private static func checksum(of text: String) -> String {
        // FNV-1a, because the value must be the same in each process.
        let hash = text.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return String(hash >> 16 ^ hash & 0xFFFF, radix: 16)
    }
}

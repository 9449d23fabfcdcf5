// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The key of a request: `GET /teas/1`, or `POST /teas~` and a hash of the body for a request with a body in memory.
///
/// The key does not include the header fields, nor the host, because a server's port differs from run to run. JSON
/// bodies are compared as values, because encoders do not promise an order of keys. Secrets in the URL are replaced.
struct ExchangeKey: Hashable, Sendable {
    /// The key without the body.
    let short: String
    let full: String

    init(_ request: ApiRequest) {
        let url = RequestSummary(request).url
        let origin = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = origin.firstIndex(of: "/").map { origin[$0...] } ?? "/"
        short = "\(request.method.rawValue) \(path)"
        full = short + (Self.hash(request).map { "~" + $0 } ?? "")
    }

    private static func hash(_ request: ApiRequest) -> String? {
        guard let data = try? request.body.data(), !data.isEmpty else { return nil }
        let value = request.body.mediaType?.isJSON == true ? JSONValue(parsing: data) : nil
        let hash = value.map { KeyedRandom.hash($0.description.utf8) } ?? KeyedRandom.hash(data)
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

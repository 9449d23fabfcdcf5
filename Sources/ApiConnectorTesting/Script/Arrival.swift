// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A request that has reached a script and whose body is still coming: it is under way, and has no number yet.
final class Arrival: Sendable {
    let request: ApiRequest

    /// Set when the scope has ended before the body.
    let stopped = Eventual<ApiConnectorError>()

    init(_ request: ApiRequest) {
        self.request = request
    }

    /// What the request sends; a cancel, the call's limits of time and the scope's end are heeded though the body's source
    /// may not heed them.
    func body() async throws -> Data {
        try await Exchange.value(of: request, until: stopped) { [request] in try await request.collectedBody() }
    }
}

extension ApiRequest {
    /// What it sends, up to what a script keeps; each chunk tells the limit on silence that something is sent.
    func collectedBody() async throws(ApiConnectorError) -> Data {
        let limit = ResponseDelivery.standard.maximumByteCount
        var bytes = Data()
        try await body.send { (chunk) throws(ApiConnectorError) in
            reportProgress()
            guard chunk.count <= limit - bytes.count else {
                throw ApiConnectorError(
                    .bodyTooLarge,
                    at: .request,
                    "a script accepts request bodies of up to \(limit) bytes"
                )
            }
            bytes += chunk
        }
        return bytes
    }
}

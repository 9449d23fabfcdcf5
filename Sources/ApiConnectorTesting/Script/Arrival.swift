// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A request whose body is still arriving at a script.
///
/// The request counts as running, but has no number yet.
package final class Arrival: Sendable {
    package let request: ApiRequest

    /// Set if the scope ends before the body has arrived.
    package let stopped = Eventual<ApiConnectorError>()

    package init(_ request: ApiRequest) {
        self.request = request
    }

    /// The request's body.
    ///
    /// A cancel, the call's timeouts or the scope's end stop the read, even if the body's source ignores them.
    func body() async throws -> Data {
        try await OpenExchange.value(of: request, until: stopped) { [request] in try await request.collectedBody() }
    }
}

extension ApiRequest {
    /// The request's body, up to the size that a script keeps.
    ///
    /// Each chunk restarts the stall timeout.
    package func collectedBody() async throws(ApiConnectorError) -> Data {
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

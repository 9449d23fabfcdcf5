// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response whose head has come, and whose body is on its way.
struct StreamedAnswer: Sendable {
    let reader: StreamedReader

    /// The call's request, as it was before redirects and wrappers: what would be sent again.
    let request: ApiRequest

    /// What the errors of the body do not know: request, head, time.
    let completing: @Sendable (ApiConnectorError) -> ApiConnectorError

    var response: ApiResponse { reader.response }

    /// The attempt that was answered, as the resumption of its stream counts it.
    var attempt: StreamAttempt { StreamAttempt(request, sent: response.request) }

    /// The chunks of a part that was asked for: it passes as the whole that it stands for, status 200.
    func acceptedAsWhole() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var response = response
        response.status = 200
        let reader = StreamedReader(response: response, settings: reader.settings)
        return try await StreamedAnswer(reader: reader, request: request, completing: completing).accepted()
    }

    /// The chunks of a response that is accepted.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        do throws(ApiConnectorError) {
            return try await reader.accepted()
        } catch {
            throw completing(error)
        }
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A response whose head has arrived and whose body is streamed.
struct StreamedAnswer: Sendable {
    let reader: StreamedReader

    /// The call's request before redirects and wrappers.
    ///
    /// A resumption makes a new request from the route, and continues the attempts of this one.
    let request: ApiRequest

    /// Completes errors of the body with request, head and time.
    let completing: @Sendable (ApiConnectorError) -> ApiConnectorError

    var response: ApiResponse { reader.response }

    /// Describes the attempt that got this response, for the stream's resumption.
    ///
    /// Call this method when the response is accepted, because it records the current time as the attempt's start.
    func makeAttempt() -> StreamAttempt { StreamAttempt(request, sent: response.request) }

    /// The chunks of the rest of a body, whose head is validated as if its status were 200.
    ///
    /// Checks that inspect the body do not run. They have accepted the beginning of the body, and would take the rest
    /// for a whole body.
    func acceptedAsRest() throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        var whole = response
        whole.status = 200
        do throws(ApiConnectorError) {
            try reader.settings.configuration.validation.validate(whole, nil)
        } catch {
            throw completing(error)
        }
        return response.body.makeAsyncIterator()
    }

    /// The chunks of an accepted response.
    func accepted() async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        do throws(ApiConnectorError) {
            return try await reader.accepted()
        } catch {
            throw completing(error)
        }
    }
}

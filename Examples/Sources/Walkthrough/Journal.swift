// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Synchronization

/// Keeps what was asked last and what came back, for the walk to show.
package final class Journal: Sendable {
    package struct Entry: Sendable {
        package let method: HTTPMethod

        /// Path and query as they were sent.
        package let target: String

        /// Nil where no response came.
        package var status: HTTPStatus?
    }

    private let last = Mutex<Entry?>(nil)

    package init() {}

    /// The newest entry since it was asked for, then forgotten.
    func takeLast() -> Entry? {
        last.withLock { last in
            defer { last = nil }
            return last
        }
    }

    fileprivate func note(_ request: ApiRequest) {
        let path = request.url.path(percentEncoded: true)
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        last.withLock { $0 = Entry(method: request.method, target: path + query) }
    }

    fileprivate func note(_ status: HTTPStatus) {
        last.withLock { $0?.status = status }
    }
}

/// A provider that wraps a provider: whatever passes through it is noted.
package struct JournalingProvider<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let journal: Journal

    package init(_ wrapped: Wrapped, journal: Journal) {
        self.wrapped = wrapped
        self.journal = journal
    }

    package func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        journal.note(request)
        let response = try await wrapped.response(for: request)
        journal.note(response.status)
        return response
    }
}

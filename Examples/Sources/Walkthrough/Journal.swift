// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Synchronization

/// Records the last request and its response for the walk's output.
package final class Journal: Sendable {
    package struct Entry: Sendable {
        package let method: HTTPMethod

        /// The path and query as sent.
        package let target: String

        /// The status; nil if there was no response.
        package var status: HTTPStatus?
    }

    private let last = Mutex<Entry?>(nil)

    package init() {}

    /// Returns the newest entry and forgets it.
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

/// A provider that wraps a provider and records its traffic.
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

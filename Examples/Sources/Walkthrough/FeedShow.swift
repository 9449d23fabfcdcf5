// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

/// Shows a feed's events and reconnections as they happen.
package struct FeedShow: Sendable {
    private let style: TextStyle
    private let write: @Sendable (String) -> Void

    /// Makes a show that passes each line to a closure, which prints the line by default.
    package init(style: TextStyle = .plain, write: @escaping @Sendable (String) -> Void = { print($0) }) {
        self.style = style
        self.write = write
    }

    /// Reads the feed to its end, even if the server disconnects several times.
    ///
    /// - Returns: Whether every event arrived exactly once, and in order.
    package func run(
        _ environment: BackendEnvironment,
        over provider: some DataRequestType,
        millisecondsApart gap: Int,
        timeSource: any TimeSource = .system
    ) async throws(ApiConnectorError) -> Bool {
        let api = NetworkConnector(
            environment: environment,
            provider: AnnouncingProvider(wrapped: provider, announce: announce),
            router: FeedRouter.self,
            configuration: ConnectionConfiguration(timeSource: timeSource)
        )
        let format = StreamFormat<ServerSentEvent>.events.resuming(RetryPolicy(initialDelay: .milliseconds(200)))
        var ids: [String] = []
        for try await event in api.stream(at: .comments(millisecondsApart: gap), as: format) {
            ids.append(event.id)
            let comment = try? api.configuration.decoder.decode(Comment.self, from: Data(event.data.utf8))
            let author = comment?.author ?? event.type
            let space = String(repeating: " ", count: max(1, 8 - author.count))
            write("      \(event.id)  \(style.strong(author))\(space)\(comment?.text ?? event.data)")
        }
        let isWhole = !ids.isEmpty && ids == (1...ids.count).map { "\($0)" }
        let summary =
            "\(ids.count) events, " + (isWhole ? "each once and in order" : "but not 1 to \(ids.count): \(ids)")
        write("")
        write(isWhole ? style.good(summary) : style.bad(summary))
        return isWhole
    }

    @Sendable
    private func announce(_ request: ApiRequest, _ status: HTTPStatus?) {
        switch status {
        case nil:
            let id = request.headers["Last-Event-ID"].map { ", resumes after event \($0)" } ?? ""
            write("  → \(request.method) \(request.url.path(percentEncoded: true))\(style.faint(id))")
        case .some(204): write("  ← 204, no more events")
        default: break
        }
    }
}

/// A provider that wraps a provider and reports each request and its status.
private struct AnnouncingProvider<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let announce: @Sendable (ApiRequest, HTTPStatus?) -> Void

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        announce(request, nil)
        let response = try await wrapped.response(for: request)
        announce(request, response.status)
        return response
    }
}

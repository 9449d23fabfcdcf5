// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum TheLifeOfARequest {
    struct Traced<Wrapped: DataRequestType>: DataRequestType {
        let wrapped: Wrapped
        let write: @Sendable (String) -> Void

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            request.headers["X-Trace"] = UUID().uuidString
            let response = try await wrapped.response(for: request)
            write("\(request.method) \(request.routeName ?? "a link"): \(response.status)")
            return response
        }
    }

    @Test static func setsTheDifferingOptions() {
        let none = CallOptions(validation: .status(301, 302), redirects: .never)
        let sameHost = CallOptions(
            redirects: .ask { response, next in next.url.host() == response.url.host() ? .follow(next) : .refuse }
        )
        let timeouts = Timeouts(attempt: .seconds(10), stall: .seconds(5), overall: .seconds(30))
        let configuration = ConnectionConfiguration(timeouts: timeouts)
        let api = NetworkConnector(
            environment: .production,
            provider: Traced(wrapped: SystemProvider(), write: { print($0) }),
            router: Blog.self
        )
        _ = (none, sameHost, configuration, api)
    }
}

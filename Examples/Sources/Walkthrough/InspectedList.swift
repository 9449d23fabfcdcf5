// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Backends

/// The exchanges that the page of an inspector lists.
package struct InspectedList: Sendable {
    private struct Exchange: Decodable {
        let call: String
        let status: Int?
        let state: String
    }

    private let exchanges: [Exchange]

    /// Fetches the list as the page does: the first event of the page's feed.
    ///
    /// - Parameters:
    ///   - address: The address of the page, with its token.
    ///   - provider: The provider that sends the request.
    package init(at address: URL, over provider: some DataRequestType) async throws {
        guard let location = ServerLocation(address) else { throw URLError(.badURL) }
        let api = NetworkConnector(environment: .feed(on: location), provider: provider, router: FeedRouter.self)
        var data = "[]"
        for try await event in api.stream(at: address.appending(path: "changes"), as: .events) {
            data = event.data
            break
        }
        exchanges = try JSONDecoder().decode([Exchange].self, from: Data(data.utf8))
    }

    /// The number of exchanges.
    package var count: Int { exchanges.count }

    /// The numbers of exchanges and calls, and the number of exchanges for each status.
    package var summary: String {
        let statuses = exchanges.map { $0.state == "failed" ? "failed" : $0.status.map(String.init) ?? $0.state }
        let counts = Dictionary(grouping: statuses) { $0 }.sorted { $0.key < $1.key }
            .map { "\($0.key) × \($0.value.count)" }
        return "\(count) exchanges of \(Set(exchanges.map(\.call)).count) calls: \(counts.joined(separator: ", "))"
    }
}

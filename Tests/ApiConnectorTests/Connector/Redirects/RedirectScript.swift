// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

extension ScriptedWeb {
    /// Answers `/STATUS?LOCATION` by a redirect there, `/STATUS` by one without a location, all else with "there".
    convenience init(redirectingOver wire: Wire) throws {
        try self.init(over: wire) { request in
            let parts = request.target.dropFirst().split(separator: "?", maxSplits: 1)
            guard let status = parts.first.flatMap({ Int($0) }) else { return .text("there") }
            let location = parts.count == 2 ? parts[1].removingPercentEncoding : nil
            return LoopbackResponse(
                status: status,
                headers: location.map { [("Location", $0)] } ?? [],
                body: Data("moved".utf8)
            )
        }
    }

    /// The URL at an origin that redirects to a location.
    static func hop(_ status: Int, from origin: String, to location: String) throws -> URL {
        let encoded = location.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        guard let url = URL(string: "\(origin)/\(status)?\(encoded)") else { throw URLError(.badURL) }
        return url
    }

    /// The values of the fields that go to the own origin and, after a redirect, to another one.
    ///
    /// The fields are set in three ways: by the call, by the connection, and by a wrapper on each hop.
    static func valuesAcrossOrigins(_ all: HTTPHeaders) async throws -> [(own: Set<String>, other: Set<String>)] {
        let web = try ScriptedWeb(redirectingOver: .testConnector)
        let url = try hop(307, from: web.home, to: "\(web.away)/end")
        var values: [(own: Set<String>, other: Set<String>)] = []
        for way in 0..<3 {
            let provider = web.provider.rewriting { if way == 2 { $0.headers.merge(all) } }
            let api = NetworkConnector<_, Endpoint<ApiPath>>(
                environment: web.place,
                provider: provider,
                configuration: ConnectionConfiguration(
                    headers: way == 1 ? all : HTTPHeaders(),
                    timeouts: .unlimited
                )
            )
            _ = try await api.data(at: url, options: CallOptions(headers: way == 0 ? all : HTTPHeaders()))
            let hops = web.requests.suffix(2).map { hop in Set(hop.headers.map(\.value)) }
            try #require(hops.count == 2)
            values.append((own: hops[0], other: hops[1]))
        }
        return values
    }

    /// One chain of redirects, each location in the URL before it, from the first origin to an end.
    static func chain(_ statuses: [Int], from origin: String, to end: String) throws -> URL {
        guard let first = statuses.first else { throw URLError(.badURL) }
        var location = end
        for status in statuses.dropFirst().reversed() {
            location = try hop(status, from: origin, to: location).absoluteString
        }
        return try hop(first, from: origin, to: location)
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

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

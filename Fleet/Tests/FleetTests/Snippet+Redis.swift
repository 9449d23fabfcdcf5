// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorFleet
import ApiConnectorTraffic
import Crypto

/// The code of the guide's section on Redis.
enum RedisSnippet {
    struct Tokens: Codable, Sendable {}

    static func sharesASession(_ password: String, _ key: SymmetricKey) throws -> SharedSession<Tokens> {
        let server = try RedisServer(url: "rediss://fleet:\(password)@redis.example.com:6380/0")
        let state = RedisSharedState(server)
        let shared = SharedSession<Tokens>(
            named: "accounts",
            in: state,
            storage: .encrypted(with: key, for: "accounts")
        )
        return shared
    }
}

// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorFleet
import ApiConnectorTraffic
import ArgumentParser
import Crypto
import Foundation

/// The store for the state of the processes: a Redis server or a folder.
struct Store: ExpressibleByArgument {
    let argument: String

    init(argument: String) {
        self.argument = argument
    }

    func open() throws -> any SharedState {
        if argument.contains("://") { return RedisSharedState(try RedisServer(url: argument)) }
        return try FolderSharedState(folder: URL(filePath: argument))
    }
}

/// A session whose access token and refresh token are the session's number.
struct Tokens: Codable, Sendable, Equatable {
    var number: Int
}

extension SharedSession<Tokens> {
    /// The session of all processes.
    ///
    /// - Parameter operationLimit: The longest time for one operation of the state.
    convenience init(in state: any SharedState, key: String, operationLimit: Duration = .seconds(10)) throws {
        let policy = SharedSessionPolicy(
            // The lease must be longer than any pause of a process on a busy machine. A process that sends its refresh
            // after the end of its lease uses the token a second time.
            leaseDuration: .seconds(2),
            operationLimit: operationLimit,
            firstPollInterval: .milliseconds(5),
            longestPollInterval: .milliseconds(50)
        )
        guard let key = Data(base64Encoded: key) else { throw ValidationError("the key is not in base64") }
        self.init(
            named: "fleet",
            in: state,
            storage: .encrypted(with: SymmetricKey(data: key), for: "fleet"),
            policy: policy
        )
    }
}
